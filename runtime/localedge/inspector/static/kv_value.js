// One key of KV: its value in each form, what locations have of it, and the form that changes it.
import { act, api, bytes, el, notice } from "./app.js";
import { ago, ask, choice, fact, moment, now, until, written } from "./data.js";

const PREFIX = "/cdn-cgi/localedge/api/kv/raw";
let form = null; // the form in which values are looked at, kept from key to key

/** What is shown of `found`, an answer of kv/value. */
export function valueOf(found, { namespace, consistency, onClose, onEdit, onDeleted, onOver }) {
  const isThere = found.hex !== "" || found.size_bytes > 0 || found.text === "" ;
  const isCut = found.shown_bytes < found.size_bytes;
  return el("div", { class: "value" },
    el("div", { class: "value-head" },
      el("h2", {}, found.key),
      el("div", { class: "bar" },
        el("button", { type: "button", class: "edit", disabled: isCut, onclick: onEdit,
          title: isCut ? "Too large to be edited here" : "Edit (e)" }, "Edit"),
        deleting(found, namespace, onDeleted),
        el("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: onClose },
          "×"))),
    el("dl", { class: "facts" },
      fact("Size", bytes(found.size_bytes)),
      fact("Expires", found.expiration === null ? "never"
        : el("span", {}, "in ", until(found.expiration * 1000, { over: "expired", onOver }), " ",
          el("span", { class: "dim" }, `(${moment(found.expiration * 1000)})`)))),
    isThere ? forms(found, namespace, isCut) : null,
    el("div", {}, el("h3", {}, "Metadata"),
      found.metadata === null ? el("p", { class: "dim none" }, "none")
        : el("pre", { class: "metadata" }, written(found.metadata))),
    copies(found, consistency));
}

function forms(found, namespace, isCut) {
  const texts = { text: found.text, json: found.json_text, hex: found.hex };
  const names = { text: "Text", json: "JSON", hex: "Hex" };
  const has = Object.fromEntries(Object.entries(names).filter(([n]) => texts[n] !== null));
  const best = found.json_text !== null ? "json" : found.text !== null ? "text" : "hex";
  const chosen = form in has ? form : best;
  const shown = el("pre", { class: "content", tabindex: 0, "aria-label": "Value" });
  const draw = (name) => {
    shown.textContent = texts[name];
    shown.dataset.form = name;
  };
  draw(chosen);
  const url = `${PREFIX}?${new URLSearchParams({ namespace, key: found.key })}`;
  return el("div", { class: "forms-of-value" },
    el("div", { class: "bar" },
      choice("Form of the value", has, chosen, (name) => { form = name; draw(name); }),
      found.text === null ? el("span", { class: "dim small" }, "Bytes that are no UTF-8.") : null,
      isCut ? el("span", { class: "dim small" },
        `The first ${bytes(found.shown_bytes)} of ${bytes(found.size_bytes)}.`) : null,
      el("a", { href: url, download: "", class: "small download" }, "Download")),
    shown);
}

function copies(found, consistency) {
  if (!found.copies.length) {
    return consistency === "eventual"
      ? el("div", {}, el("h3", {}, "Locations"),
        el("p", { class: "dim none" }, "No location has cached it."))
      : null;
  }
  const rows = found.copies.map((copy) => el("tr", {},
    el("th", { scope: "row" }, copy.location),
    el("td", {}, copy.is_newest ? el("span", { class: "badge", dataset: { tone: "good" } }, "newest")
      : el("span", { class: "badge", dataset: { tone: "warn" } }, "stale")),
    el("td", { class: "copy mono" }, copy.text === null
      ? el("span", { class: "dim" }, "no value") : copy.text),
    el("td", {}, ago(now() - copy.age_ms)),
    el("td", {}, until(now() + copy.left_ms, { over: "read again" }))));
  return el("div", {}, el("h3", {}, "Locations"),
    el("div", { class: "scroll" }, el("table", { class: "copies", "aria-label": "Locations" },
      el("thead", {}, el("tr", {}, ["Location", "", "Answers", "Age", "For another"].map((name) =>
        el("th", { scope: "col" }, name)))),
      el("tbody", {}, rows))),
    found.copies_complete ? null : el("p", { class: "dim small" },
      "The server has too many keys to look through: there may be more locations."));
}

function deleting(found, namespace, onDeleted) {
  const button = el("button", { type: "button", class: "danger" }, "Delete");
  button.addEventListener("click", async () => {
    const text = `${found.key} and its metadata are gone then.`;
    if (!(await ask({ title: "Delete this key?", text, yes: "Delete", danger: true }))) return;
    await act(button, async () => {
      await api("kv/value", { method: "DELETE", query: { namespace, key: found.key } });
      notice(`Deleted ${found.key}.`);
      onDeleted();
    });
  });
  return button;
}

// ---- the form -----------------------------------------------------------------------------------

/** The form that writes a key: `found`, or a new one when it is null. */
export function editor(found, { namespace, onCancel, onSaved }) {
  const isHex = found !== null && found.text === null;
  const key = el("input", { id: "edit-key", required: true, autocomplete: "off",
    spellcheck: "false", value: found?.key ?? "", readonly: found !== null });
  const value = el("textarea", { id: "edit-value", rows: 12, spellcheck: "false" });
  value.value = found === null ? "" : isHex ? bytesOnly(found.hex) : found.text;
  const metadata = el("textarea", { id: "edit-metadata", rows: 3, spellcheck: "false",
    placeholder: '{"any": "JSON"}' });
  metadata.value = found === null || found.metadata === null ? ""
    : JSON.stringify(found.metadata, null, 2);
  const life = lifetime(found);
  const save = el("button", { type: "submit", class: "main" }, "Save");
  const refusal = el("p", { class: "refusal", role: "alert", hidden: true });
  const shown = el("form", { class: "value editor" },
    el("h2", {}, found === null ? "New key" : "Edit"),
    el("label", { for: "edit-key" }, "Key"), key,
    el("label", { for: "edit-value" }, isHex ? "Value, as hexadecimal" : "Value"), value,
    el("label", { for: "edit-metadata" }, "Metadata (JSON, or nothing)"), metadata,
    el("label", { for: "edit-life" }, "Expires"), life.node,
    refusal,
    el("div", { class: "bar end" },
      el("button", { type: "button", class: "quiet cancel", onclick: onCancel }, "Cancel"), save));
  shown.addEventListener("submit", async (event) => {
    event.preventDefault();
    refusal.hidden = true;
    save.disabled = true;
    try {
      const body = { [isHex ? "hex" : "text"]: value.value, ...life.value() };
      if (metadata.value.trim()) body.metadata = parsed(metadata.value);
      await api("kv/value", { method: "PUT", query: { namespace, key: key.value }, body });
      await onSaved(key.value);
    } catch (error) {
      refusal.textContent = error.message;
      refusal.hidden = false;
    } finally {
      save.disabled = false;
    }
  });
  shown.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) shown.requestSubmit();
  });
  return shown;
}

function lifetime(found) {
  const expiration = found?.expiration ?? null;
  const select = el("select", { id: "edit-life" },
    expiration === null ? null : el("option", { value: "keep" }, `as now (${moment(expiration * 1000)})`),
    el("option", { value: "never" }, "never"),
    el("option", { value: "in" }, "in so many seconds"));
  const seconds = el("input", { type: "number", min: 60, value: 3600, step: 1,
    "aria-label": "Seconds", hidden: true });
  select.addEventListener("change", () => { seconds.hidden = select.value !== "in"; });
  return {
    node: el("div", { class: "bar" }, select, seconds),
    value: () => ({ keep: { expiration }, never: {},
      in: { expiration_ttl: Number(seconds.value) } })[select.value],
  };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The metadata is no JSON: ${error.message}`);
  }
}

/** The bytes of lines with offset and ASCII. */
function bytesOnly(lines) {
  return lines.split("\n").map((line) => line.slice(10, 57).trim()).join("\n");
}
