// HTTP on a loopback port in front of the worker on Pyodide. Bodies are streamed both ways.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

// Who has no token gets no answer: other programs of this machine can reach the port as well.
export const TOKEN = "x-localedge-verify";
const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", TOKEN]);

export async function answerRequests(python) {
  const token = randomBytes(18).toString("base64url");
  const server = createServer({ requestTimeout: 0 }, (incoming, outgoing) => {
    if (incoming.headers[TOKEN] !== token) {
      outgoing.writeHead(403).end();
      return;
    }
    answer(python, incoming, outgoing).catch((error) => fail(outgoing, error));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, token };
}

async function answer(python, incoming, outgoing) {
  const response = await python.fetch(requestOf(incoming));
  const headers = [];
  for (const [name, value] of response.headers) headers.push(name, value);
  outgoing.writeHead(response.status, [...headers, "x-localedge-outcome", "ok"]);
  if (response.body === null) {
    outgoing.end();
  } else {
    await pipeline(Readable.fromWeb(response.body), outgoing);
  }
}

function requestOf(incoming) {
  const headers = new Headers();
  for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
    const name = incoming.rawHeaders[at].toLowerCase();
    if (!HOP_BY_HOP.has(name)) headers.append(name, incoming.rawHeaders[at + 1]);
  }
  const { method } = incoming;
  const hasBody = "content-length" in incoming.headers || "transfer-encoding" in incoming.headers;
  const body = hasBody && method !== "GET" && method !== "HEAD" ? Readable.toWeb(incoming) : null;
  const url = `http://${incoming.headers.host}${incoming.url}`;
  return new Request(url, { method, headers, body, redirect: "manual", duplex: "half" });
}

function fail(outgoing, error) {
  console.error(error.message ?? error);
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  const body = Buffer.from(String(error.message ?? error));
  outgoing.writeHead(500, { "content-type": "text/plain", "x-localedge-outcome": "exception" });
  outgoing.end(body);
}
