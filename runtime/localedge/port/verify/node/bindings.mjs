// Classes that bear the platform's names, which the Python SDK looks at, over miniflare's proxies.

// Of a method that has once answered with a promise miniflare expects one, and loses what the
// binding throws before it makes one. A twin of the binding that only ever throws does not.
const isLost = (error) => error.name === "AssertionError" && /typeHeader === "Promise"/.test(error.message);

export class KvNamespace {
  #target;
  #twin;
  constructor(target, twin) {
    this.#target = target;
    this.#twin = twin;
  }
  #call(method, args) {
    const answer = this.#target[method](...args);
    return answer.catch((error) => {
      if (isLost(error)) return this.#twin[method](...args);
      throw error;
    });
  }
  get(...args) {
    return this.#call("get", args);
  }
  getWithMetadata(...args) {
    return this.#call("getWithMetadata", args);
  }
  put(...args) {
    return this.#call("put", args);
  }
  delete(...args) {
    return this.#call("delete", args);
  }
  list(...args) {
    return this.#call("list", args);
  }
}

export class D1PreparedStatement {
  #target;
  constructor(target) {
    this.#target = target;
  }
  static target(statement) {
    return statement instanceof D1PreparedStatement ? statement.#target : statement;
  }
  get statement() {
    return this.#target.statement;
  }
  get params() {
    return this.#target.params;
  }
  bind(...args) {
    return new D1PreparedStatement(this.#target.bind(...args));
  }
  first(...args) {
    return this.#target.first(...args);
  }
  run(...args) {
    return this.#target.run(...args);
  }
  all(...args) {
    return this.#target.all(...args);
  }
  raw(...args) {
    return this.#target.raw(...args);
  }
}

const targets = (statements) =>
  Array.isArray(statements) ? statements.map(D1PreparedStatement.target) : statements;

export class D1DatabaseSession {
  #target;
  constructor(target) {
    this.#target = target;
  }
  prepare(...args) {
    return new D1PreparedStatement(this.#target.prepare(...args));
  }
  batch(statements, ...args) {
    return this.#target.batch(targets(statements), ...args);
  }
  getBookmark() {
    return this.#target.getBookmark();
  }
}

export class D1Database {
  #target;
  constructor(target) {
    this.#target = target;
  }
  prepare(...args) {
    return new D1PreparedStatement(this.#target.prepare(...args));
  }
  batch(statements, ...args) {
    return this.#target.batch(targets(statements), ...args);
  }
  exec(...args) {
    return this.#target.exec(...args);
  }
  withSession(...args) {
    return new D1DatabaseSession(this.#target.withSession(...args));
  }
  dump() {
    return this.#target.dump();
  }
}
