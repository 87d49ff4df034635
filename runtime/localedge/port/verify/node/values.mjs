// Values of JavaScript in JSON, for orders of the kind `call`.
//
// In:  {"$bytes": hex}, {"$bigint": text}, {"$float": "nan" | "inf" | "-inf"}, {"$undefined": true},
//      {"$stmt": [binding, sql, …bound]}.
// Out: the first four, {"$map": [[key, value], …]}, {"$stream": hex}, {"$object": class name}.

const FLOATS = { nan: NaN, inf: Infinity, "-inf": -Infinity };

export function decoded(value, bindings) {
  if (Array.isArray(value)) return value.map((one) => decoded(one, bindings));
  if (value === null || typeof value !== "object") return value;
  if ("$bytes" in value) return new Uint8Array(Buffer.from(value.$bytes, "hex"));
  if ("$bigint" in value) return BigInt(value.$bigint);
  if ("$float" in value) return FLOATS[value.$float];
  if ("$undefined" in value) return undefined;
  if ("$stmt" in value) {
    const [binding, sql, ...bound] = value.$stmt;
    const statement = bindings[binding].prepare(sql);
    return bound.length ? statement.bind(...bound.map((one) => decoded(one, bindings))) : statement;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, decoded(one, bindings)]),
  );
}

export async function encoded(value) {
  switch (typeof value) {
    case "undefined":
      return { $undefined: true };
    case "bigint":
      return { $bigint: value.toString() };
    case "number":
      if (Number.isNaN(value)) return { $float: "nan" };
      return Number.isFinite(value) ? value : { $float: value > 0 ? "inf" : "-inf" };
    case "object":
      return value === null ? null : encodedObject(value);
    case "function":
      return { $object: "Function" };
    default:
      return value;
  }
}

async function encodedObject(value) {
  if (Array.isArray(value)) return Promise.all(value.map(encoded));
  if (value instanceof ArrayBuffer) return { $bytes: Buffer.from(value).toString("hex") };
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return { $bytes: bytes.toString("hex") };
  }
  if (value instanceof Map) {
    return { $map: await Promise.all([...value].map(([key, one]) => encoded([key, one]))) };
  }
  if (value instanceof ReadableStream) {
    return { $stream: Buffer.from(await new Response(value).arrayBuffer()).toString("hex") };
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    return { $object: value.constructor?.name ?? "" };
  }
  const entries = Object.entries(value).map(async ([key, one]) => [key, await encoded(one)]);
  return Object.fromEntries(await Promise.all(entries));
}
