"""Names that the platform's SDK has in its submodules: where ours are, and which are not here.

Source: workers-runtime-sdk 1.9.5 (wheel), read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any, Final

ELSEWHERE: Final[Mapping[str, Mapping[str, str]]] = {
    "workers": {"_EnvWrapper": "workers.rpc"},
    "workers.asgi": {"Context": "workers", "Request": "workers"},
    "workers.blob": {"BlobValue": "workers"},
    "workers.entrypoints": {
        "_BindingWrapper": "workers.rpc",
        "_EnvWrapper": "workers.rpc",
        "python_from_rpc": "workers",
        "python_to_rpc": "workers",
    },
    "workers.fetch": {"FetchKwargs": "workers"},
    "workers.formdata": {"FormDataValue": "workers"},
    "workers.request": {"FetchKwargs": "workers"},
    "workers.response": {"Body": "workers", "Headers": "workers"},
    "workers.rpc": {"fetch": "workers", "jsnull": "pyodide.ffi"},
    "workers.types": {"FormData": "workers"},
    "workers.utils": {
        "NonRetryableError": "workers.workflows",
        "import_from_javascript": "workers",
        "jsnull": "pyodide.ffi",
        "patch_env": "workers",
    },
    "workers.wsgi": {"Context": "workers", "Request": "workers"},
}
"""Module, name, and the module that has it here."""

# Differs: the SDK's submodules have inner parts for JavaScript objects, which there are none of.
ABSENT: Final[Mapping[str, frozenset[str]]] = {
    module: frozenset(names.split())
    for module, names in {
        "workers.asgi": "ASGI DEFAULT_OPTIONS NULL_BODY_STATUSES Options _to_js_headers "
        "acquire_js_buffer background_tasks close_stream_quietly process_request "
        "process_websocket start_application",
        "workers.blob": "_make_blob_entry",
        "workers.entrypoints": "DurableObjectAbort DurableObjectContext DurableObjectState Env "
        "ExecutionContext _WorkflowStepWrapper _do_call _workflows_js_module _wrap_class "
        "_wrap_js_workflow_step _wrap_queue_handler _wrap_workflow_step "
        "import_sdk_javascript_module_async",
        "workers.fetch": "_pyfetch_patched",
        "workers.formdata": "_js_value_to_py _py_value_to_js",
        "workers.gateway": "EncodeBody",
        "workers.response": "RESPONSE_ACCEPTED_TYPES",
        "workers.rpc": "_DurableObjectNamespaceWrapper _RpcStubWrapper _WorkflowBindingWrapper "
        "_WorkflowInstanceWrapper _idempotent_new _python_from_rpc_default_converter "
        "_python_to_rpc_default_converter _raise_on_disabled_type _replace_jsnull_with_none "
        "_replace_none_with_jsnull",
        "workers.utils": "HTTPMessageMapping RESPONSE_ACCEPTED_TYPES _JS_PASSTHROUGH_TYPES "
        "_NON_RETRYABLE_ERROR_NAME _SDK_JS_MODULE_PREFIX _from_js_error _get_js_body "
        "_get_js_constructor_name _is_iterable _is_js_instance _js_headers_to_http_message "
        "_jsnull_to_none _manage_pyproxies _supports_buffer_protocol get_compat_flag "
        "import_sdk_javascript_module_async",
        "workers.wsgi": "DEFAULT_OPTIONS Options _END _ReadableStreamInput _close_iterable "
        "_make_streaming_response _make_wsgi_input _read_body _to_js_uint8array "
        "_wsgi_native_string build_environ process_request",
    }.items()
}
"""Module, and its names that nothing here stands for."""

KNOWN: Final = frozenset((*ELSEWHERE, *ABSENT))


class TellingLoader(SourceFileLoader):
    """Loads a module of ours that also answers for the names which only upstream's has."""

    def exec_module(self, module: ModuleType) -> None:
        """The module is loaded; unknown attributes are looked up in the tables above."""
        super().exec_module(module)
        own: Callable[[str], Any] | None = module.__dict__.get("__getattr__")
        module.__dict__["__getattr__"] = _attributes(module.__name__, own)


def _attributes(module: str, own: Callable[[str], Any] | None) -> Callable[[str], Any]:
    elsewhere, absent = ELSEWHERE.get(module, {}), ABSENT.get(module, frozenset())

    def attribute(name: str) -> Any:
        if name in elsewhere:
            return getattr(import_module(elsewhere[name]), name)
        if name in absent:
            # An ImportError, because `from … import` hides the text of an AttributeError.
            raise ImportError(
                f"{module}.{name} exists on the platform, not in localedge.", name=module
            )
        if own is not None:
            return own(name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return attribute
