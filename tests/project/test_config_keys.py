"""What is said about keys: unknown ones, wrong ones, and those that are not run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.project.projects import loaded, refused, toml, write


def test_an_unknown_key_is_a_warning_with_its_path_its_line_and_the_nearest(
    tmp_path: Path,
) -> None:
    toml(tmp_path, '[[kv_namespaces]]\nbinding = "KV"\nbidning = "X"\n')

    (warning,) = loaded(tmp_path).warnings

    assert (
        'config/unknown-key: [kv_namespaces.0] has no key "bidning".  Did you mean "binding"?'
        " (wrangler_like.toml:7)" in warning
    )


def test_a_binding_with_a_misspelt_key_lacks_it(tmp_path: Path) -> None:
    toml(tmp_path, '[[kv_namespaces]]\nbiding = "KV"\n')

    error = refused(tmp_path)

    assert 'wrangler_like.toml:5: "kv_namespaces[0]" bindings should have a string' in error.message
    assert '[kv_namespaces.0] has no key "biding".  Did you mean "binding"?' in error.message


def test_an_unknown_key_far_from_all_others_has_no_advice(tmp_path: Path) -> None:
    toml(tmp_path, "zzzzzz = 1\n")

    (warning,) = loaded(tmp_path).warnings

    assert '[top level] has no key "zzzzzz".' in warning
    assert "Did you mean" not in warning


def test_an_unknown_key_of_the_localedge_table_is_an_error(tmp_path: Path) -> None:
    toml(tmp_path, "[localedge]\nport = 1\nisolate = 3\n")

    error = refused(tmp_path)

    assert error.code == "config/unknown-key"
    assert error.message == (
        'wrangler_like.toml:7: [localedge] has no key "isolate".  Did you mean "isolates"?'
    )


@pytest.mark.parametrize(
    "line",
    [
        'port = "8787"',
        "port = 70000",
        "isolates = 0",
        "isolates = 2.5",
        "fresh = 1",
        'durability = "disk"',
        'write_rate = "on"',
        "loop_block_s = 0",
        "memory_mb = 1",
        "redis_url = 5",
        'redis_url = "http://127.0.0.1:6379"',
    ],
)
def test_a_wrong_value_in_the_localedge_table_is_an_error_with_its_line(
    tmp_path: Path, line: str
) -> None:
    toml(tmp_path, f"[localedge]\n{line}\n")

    error = refused(tmp_path)

    name = line.split()[0]
    assert error.message.startswith(f"wrangler_like.toml:6: [localedge] {name}: ")


def test_a_localedge_key_that_is_no_table_is_an_error(tmp_path: Path) -> None:
    toml(tmp_path, "localedge = 5\n")

    assert "[localedge] should be a table" in refused(tmp_path).message


def test_the_port_of_wranglers_dev_table_counts_unless_ours_says_otherwise(tmp_path: Path) -> None:
    toml(tmp_path, "[dev]\nport = 9000\n")
    assert loaded(tmp_path).local.port == 9000

    toml(tmp_path, "[dev]\nport = 9000\n[localedge]\nport = 9001\n")
    assert loaded(tmp_path).local.port == 9001


def test_strict_turns_on_what_the_edge_enforces_unless_a_key_says_otherwise(
    tmp_path: Path,
) -> None:
    toml(tmp_path, '[localedge]\nstrict = true\nwrite_rate = "warn"\n')

    local = loaded(tmp_path).local

    assert (local.strict, local.consistency, local.write_rate) == (True, "eventual", "warn")


def test_a_key_that_is_not_run_is_named_once_and_its_bindings_become_placeholders(
    tmp_path: Path,
) -> None:
    toml(
        tmp_path,
        '[[r2_buckets]]\nbinding = "A"\n[[r2_buckets]]\nbinding = "B"\n'
        '[ai]\nbinding = "AI"\n[[durable_objects.bindings]]\nname = "DO"\nclass_name = "C"\n',
    )

    project = loaded(tmp_path)

    assert project.placeholders == {
        "A": "R2Bucket",
        "B": "R2Bucket",
        "AI": "Ai",
        "DO": "DurableObjectNamespace",
    }
    assert len([w for w in project.warnings if '"r2_buckets" is not run' in w]) == 1


def test_a_secret_does_not_replace_a_placeholder(tmp_path: Path) -> None:
    toml(tmp_path, '[[r2_buckets]]\nbinding = "A"\n')
    write(tmp_path, {".dev.vars": "A=1\nB=2\n"})

    assert loaded(tmp_path).secrets == {"B": "2"}


def test_errors_of_the_chosen_environment_say_which_one_it_is(tmp_path: Path) -> None:
    toml(tmp_path, "[env.staging]\nkv_namespaces = [{ binding = 5 }]\nvarz = 1\n")

    error = refused(tmp_path, environment="staging")

    assert (
        '"env.staging" environment configuration: "env.staging.kv_namespaces[0]"' in error.message
    )
    assert '[env.staging] has no key "varz".  Did you mean "vars"?' in error.message


def test_a_key_that_is_not_inherited_and_missing_is_a_warning(tmp_path: Path) -> None:
    toml(tmp_path, "[vars]\nA = 1\n[env.staging]\n")

    project = loaded(tmp_path, environment="staging")

    assert project.vars == {}
    assert any(
        '"vars" exists at the top level, but not on "env.staging".' in w for w in project.warnings
    )


def test_null_in_an_environment_takes_an_inherited_key_from_the_top(tmp_path: Path) -> None:
    text = (
        '{"name": "a", "main": "entry.py", "compatibility_date": "2026-10-01", '
        '"compatibility_flags": ["python_workers"], "triggers": {"crons": ["* * * * *"]}, '
        '"env": {"s": {"triggers": null}}}'
    )
    write(tmp_path, {"wrangler.jsonc": text})

    assert loaded(tmp_path, environment="s").crons == ("* * * * *",)


def test_environments_that_are_empty_are_environments(tmp_path: Path) -> None:
    toml(tmp_path, "[env]\n")

    assert "environment names are: []" in refused(tmp_path, environment="x").message


def test_a_date_deep_in_vars_is_refused_by_its_path(tmp_path: Path) -> None:
    toml(tmp_path, "[vars]\nO = { d = [1979-05-27] }\n")

    assert 'The field "vars.O.d.0" is a TOML date' in refused(tmp_path).message


def test_a_number_deep_in_vars_has_to_be_finite(tmp_path: Path) -> None:
    toml(tmp_path, "[vars]\nO = { d = [inf] }\n")

    assert "vars.O.d.0 is no finite number" in refused(tmp_path).message


def test_a_var_that_a_secret_replaces_may_be_any_number(tmp_path: Path) -> None:
    toml(tmp_path, "[vars]\nO = inf\n")
    write(tmp_path, {".dev.vars": "O=1\n"})

    assert loaded(tmp_path).secrets == {"O": "1"}


def test_remote_bindings_are_said_to_be_local(tmp_path: Path) -> None:
    toml(tmp_path, '[[kv_namespaces]]\nbinding = "KV"\nremote = true\n')

    (warning,) = loaded(tmp_path).warnings

    assert '"remote" of KV has no effect' in warning


@pytest.mark.parametrize(
    ("flags", "phrase"),
    [
        ('"python_workers", "python_workflow"', "No such compatibility flag: python_workflow"),
        ('"python_workers", "No-Such"', "No such compatibility flag: No-Such"),
        (
            '"python_workers", "python_workers_314", "no_python_workers_314"',
            "mutually contradictory: python_workers_314 vs no_python_workers_314",
        ),
    ],
)
def test_flags_that_the_runtime_refuses_are_refused(
    tmp_path: Path, flags: str, phrase: str
) -> None:
    head = f'name = "shop"\nmain = "entry.py"\ncompatibility_flags = [{flags}]\n'
    toml(tmp_path, "", head=head)

    assert phrase in refused(tmp_path).message


def test_a_worker_that_is_no_python_is_refused(tmp_path: Path) -> None:
    toml(tmp_path, "", head='name = "shop"\nmain = "entry.js"\n')
    write(tmp_path, {"entry.js": ""})

    assert "is no Python file" in refused(tmp_path).message


WRONG = [
    ("route = 'a/*'\nroutes = ['b/*']\n", 'one of the following fields ["routes","route"]'),
    ("legacy_env = true\n", 'The "legacy_env" field is no longer supported'),
    ("node_compat = true\n", 'The "node_compat" field is no longer supported'),
    ("routes = [{ pattern = 5 }]\n", 'but these weren\'t valid: [{"pattern":5}].'),
    ("route = 5\n", 'Expected "route" to be either a string, or an object with shape'),
    ("[placement]\nmode = 'x'\n", 'field to be one of ["off","smart","targeted"] but got "x".'),
    ("[observability]\n", '"observability.enabled" or "observability.logs.enabled" or'),
    ("[build]\ncommand = 5\n", 'Expected "build.command" to be of type string but got 5.'),
    ("[site]\n", '"site.bucket" is a required field.'),
    ("[alias]\nx = 5\n", 'Expected alias["x"] to be a string, but got number'),
    ("[wasm_modules]\nX = 5\n", "Expected \"wasm_modules['X']\" to be of type string but got 5."),
    ("assets = 'x'\n", '"assets" should be an object, but got value "assets" of type string'),
    ("[[rules]]\ntype = 'Text'\n", 'Expected "rules[0].globs" to be an array of strings'),
    ("[dev]\nport = 'x'\n", 'Expected "dev.port" to be of type number but got "x".'),
    ("[dev]\nlocal_protocol = 'x'\n", 'field to be one of ["http","https"] but got "x".'),
    ("keep_vars = 1\n", 'Expected "keep_vars" to be of type boolean but got 1.'),
    ("compliance_region = 'x'\n", 'Expected "compliance_region" field to be one of'),
    ("[ai]\n", 'binding should have a string "binding" field.'),
    ("[durable_objects]\nbindings = 5\n", '"durable_objects.bindings" should be an array'),
    ("[logfwdr]\n", 'is missing the required "bindings" property.'),
    ("placement = {}\n", '"placement.mode" is a required field.'),
    ("placement = 5\n", 'The field "placement" should be an object but got 5.'),
    ("migrations = [{}]\n", '"migrations[0].tag" is a required field.'),
    ("migrations = 5\n", 'The optional "migrations" field should be an array, but got 5'),
    ("tail_consumers = [{}]\n", '"tail_consumers[0].service" is a required field.'),
    ("cache = {}\n", '"cache.enabled" is a required field.'),
    ("[queues]\nproducers = 5\n", 'The field "queues.producers" should be an array but got 5.'),
    (
        "[[queues.producers]]\nbinding = 'Q'\nqueue = ''\n",
        '"queues.producers[0]" bindings should optionally have a non-empty string "queue" field',
    ),
    (
        "[[r2_buckets]]\nbinding = 'R'\nbucket_name = 'No'\n",
        'r2_buckets[0].bucket_name="No" is invalid.',
    ),
    (
        "[[ratelimits]]\nname = 'R'\nnamespace_id = '1'\nsimple = { limit = 1, period = 5 }\n",
        '"simple.period" must be either 10 or 60 but got 5.',
    ),
    (
        "[[workflows]]\nbinding = 'W'\nname = 'a b'\nclass_name = 'C'\n",
        '"workflows[0]" binding "name" field is invalid.',
    ),
    (
        "[secrets]\nrequired = ['A', 'A', 5]\n",
        'Expected "secrets.required.[2]" to be of type string but got 5.',
    ),
    ("[secrets]\nrequired = ['A', 'A']\n", "A assigned to multiple Secret bindings."),
]


@pytest.mark.parametrize(("text", "phrase"), WRONG)
def test_a_wrong_value_is_refused_in_wranglers_words(
    tmp_path: Path, text: str, phrase: str
) -> None:
    toml(tmp_path, text)

    assert phrase in refused(tmp_path).message
