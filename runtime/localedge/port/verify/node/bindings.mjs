// Classes that bear the platform's names, which the Python SDK looks at, over miniflare's proxies.

export class KvNamespace {
  #target;
  constructor(target) {
    this.#target = target;
  }
  get(...args) {
    return this.#target.get(...args);
  }
  getWithMetadata(...args) {
    return this.#target.getWithMetadata(...args);
  }
  put(...args) {
    return this.#target.put(...args);
  }
  delete(...args) {
    return this.#target.delete(...args);
  }
  list(...args) {
    return this.#target.list(...args);
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
