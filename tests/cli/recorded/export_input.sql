CREATE TABLE users(id INTEGER PRIMARY KEY AUTOINCREMENT, n TEXT, r REAL, b BLOB);
CREATE TABLE "quoted x" (a, g AS (a + 1));
INSERT INTO users(n,r,b) VALUES ('it''s', 1.5, x'00ff'),(NULL, 9e999, 9007199254740991);
INSERT INTO users(n) VALUES ('two' || char(10) || 'lines' || char(13) || 'x');
INSERT INTO "quoted x" VALUES (1), (2.5), ('q"');
CREATE INDEX ix ON users(n);
CREATE VIEW v AS SELECT n FROM users;
CREATE TRIGGER tr AFTER DELETE ON users BEGIN DELETE FROM "quoted x"; END;
