"""SQL files and commands as single statements, the way wrangler sends them to D1.

Source: reference/kv-d1-contract.md section 3 and recorded answers of wrangler 4.164, read
2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from localedge.coercion import JS_SPACE
from localedge.d1.sqlite import complete_statement
from localedge.errors import OperatorError

_BEGIN: Final = "BEGIN TRANSACTION"

# Only a `;` outside of all these can end a statement. An unfinished one runs to the end.
_TOKEN: Final = re.compile(
    r"""
      (?P<blank> [ \t\n\f\r]+ | --[^\n]*\n? | /\*.*?(?:\*/|\Z) )
    | (?P<semicolon> ; )
    | '[^']*'? | "[^"]*"? | `[^`]*`? | \[[^\]]*\]?
    | [^ \t\n\f\r;'"`\[/-]+ | .
    """,
    re.VERBOSE | re.DOTALL,
)


def cut_transaction(sql: str) -> str:
    """`sql` without its first `BEGIN TRANSACTION;` and `COMMIT;`, wherever they stand.

    Text without BEGIN TRANSACTION stays as it is. What a dump of SQLite begins and ends with is
    cut, because D1 runs the whole in a transaction anyway.
    Errors: OperatorError when there is a second one.
    """
    if _BEGIN not in sql:
        return sql
    cut = sql.replace(f"{_BEGIN};", "", 1).replace("COMMIT;", "", 1)
    if _BEGIN in cut:
        raise OperatorError(
            "d1/several-transactions",
            "Wrangler could not process the provided SQL file, as it contains several "
            "transactions.\nD1 runs your SQL in a transaction for you.\n"
            "Please export an SQL file from your SQLite database and try again.",
        )
    return cut


def split(sql: str) -> list[str]:
    """The statements of `sql` without their `;`, comment-only pieces dropped.

    A text that cannot hold two statements is handed over untouched, and so is one without any.
    Errors: OperatorError when it holds several transactions.
    """
    sql = cut_transaction(sql)
    text = sql.rstrip(JS_SPACE)
    if ";" not in text[:-1]:
        return [sql]
    return list(_pieces(sql)) or [sql]


def _pieces(sql: str) -> Iterator[str]:
    # A NUL is text for the splitter; SQLite's check would stop at it.
    checked = sql.replace("\0", "\1")
    start = 0
    is_empty = True
    for token in _TOKEN.finditer(checked):
        if token["semicolon"] is None:
            is_empty = is_empty and token["blank"] is not None
        elif complete_statement(checked[start : token.end()]):
            piece = sql[start : token.start()].strip(JS_SPACE)
            if piece and not is_empty:
                yield piece
            start, is_empty = token.end(), True
    if not is_empty:
        yield sql[start:].strip(JS_SPACE)
