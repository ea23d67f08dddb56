# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The parser and the compiler, without their warnings, and with one kind of failure."""

from __future__ import annotations

import ast
import warnings


def parse(text: str) -> ast.Module:
    """``ast.parse``, silent about invalid escapes and the like.

    :raises SyntaxError: whatever the reason, too deep nesting and null bytes included.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except RecursionError:
        raise SyntaxError("it is nested too deeply") from None
    except MemoryError:
        raise SyntaxError("it is nested too deeply") from None
    except ValueError as error:
        raise SyntaxError(str(error)) from None


def compile_error(text: str) -> SyntaxError | None:
    """Why a text that parses does not compile (``return`` outside a function, ...); None when it does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<edited>", "exec", dont_inherit=True)
    except (RecursionError, MemoryError):
        return SyntaxError("it is nested too deeply")
    except ValueError as error:
        return SyntaxError(str(error))
    except SyntaxError as error:
        return error
    return None


def reason(error: SyntaxError) -> str:
    """Line and the parser's own message."""
    return f"line {error.lineno}: {error.msg}" if error.lineno else error.msg


__all__ = ("parse", "compile_error", "reason")
