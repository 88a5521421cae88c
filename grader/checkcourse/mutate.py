"""Small mistakes made in a program's source, one at a time. Pure: source in, sources out."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from grader.model._data import data

__all__ = ["Mutant", "mutants", "with_steps"]

STEP = "_step"
"""Name of the function that ``with_steps`` has called; it must be known to the module."""

_SWAPPED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OTHERS = {
    "exp": "exp2", "log": "log2", "sum": "mean", "mean": "sum", "var": "std", "std": "var", "max": "min", "min": "max",
    "argmax": "argmin", "argmin": "argmax", "randn": "rand", "standard_normal": "random",
}  # fmt: skip
_ROOTS = frozenset({"sqrt", "abs", "exp", "log", "square"})
"""Functions of one argument in whose place the argument itself is a likely mistake."""


@data
class Mutant:
    """A program with one small mistake.

    Attributes:
        name: What is defined where the mistake is: a function, class or constant at the top.
        line: Of the original.
        what: The operator that made it.
        before, after: The statement's first line as it was and as it is.
        source: The whole program.
    """

    name: str
    line: int
    what: str
    before: str
    after: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Yield programs that differ from ``source`` by one small mistake; each text once.

    Raises:
        SyntaxError: If ``source`` is no program.
    """
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    for top in tree.body:
        name = _defines(top)
        if not name:
            continue
        parameters = _defaults(top)
        for statement in _statements(top):
            before = _first_line(statement)
            changed = _defaults_changed(statement) if isinstance(statement, ast.FunctionDef) else []
            if statement is not top or not isinstance(statement, ast.FunctionDef):
                changed = [*changed, *_changed(statement, parameters, inside=statement is not top)]
            for what, replaced in changed:
                text = _with(tree, statement, replaced)
                if text in seen:
                    continue
                seen.add(text)
                after = "(dropped)" if replaced is None else _first_line(replaced)
                yield Mutant(name=name, line=statement.lineno, what=what, before=before, after=after, source=text)


def with_steps(source: str) -> str:
    """Return ``source`` with a call of ``_step()`` at the start of every function and every round of a loop.

    So a program that never ends can be stopped after a number of steps that is the same on every machine.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.For, ast.While)):
            call = ast.Expr(ast.Call(func=ast.Name(id=STEP, ctx=ast.Load()), args=[], keywords=[]))
            node.body.insert(0, call)
    return ast.unparse(ast.fix_missing_locations(tree))


# ---------------------------------------------------------------------- where


def _defines(node: ast.stmt) -> str:
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return node.name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name if name != "__all__" else ""
        case _:
            return ""


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield ``node`` and the statements within, without docstrings."""
    yield node
    for field in ("body", "orelse", "finalbody"):
        for child in getattr(node, field, []):
            if not _is_text(child):
                yield from _statements(child)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _defaults(node: ast.stmt) -> dict[str, ast.expr]:
    """Return the plain default values of a function's parameters."""
    if not isinstance(node, ast.FunctionDef):
        return {}
    names = [part.arg for part in (*node.args.posonlyargs, *node.args.args)]
    pairs = zip(names[len(names) - len(node.args.defaults) :], node.args.defaults, strict=True)
    return {name: value for name, value in pairs if not isinstance(value, ast.Name)}


def _first_line(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef):
        return f"def {node.name}({ast.unparse(_bare(node.args))})"
    return ast.unparse(node).lstrip("\n").partition("\n")[0]


def _bare(arguments: ast.arguments) -> ast.arguments:
    """Return the parameters without their annotations."""
    twin = copy.deepcopy(arguments)
    for part in ast.walk(twin):
        if isinstance(part, ast.arg):
            part.annotation = None
    return twin


def _with(tree: ast.Module, old: ast.stmt, new: ast.stmt | None) -> str:
    """Return the program with one statement replaced, or dropped."""
    place = next(index for index, node in enumerate(ast.walk(tree)) if node is old)
    twin = copy.deepcopy(tree)
    # A deep copy is walked in the same order.
    found = next(node for index, node in enumerate(ast.walk(twin)) if index == place)
    for parent in ast.walk(twin):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(parent, field, None)
            if isinstance(body, list) and found in body:
                body[body.index(found)] = ast.Pass() if new is None else new
    return ast.unparse(ast.fix_missing_locations(twin))


# ---------------------------------------------------------------------- what


def _defaults_changed(function: ast.FunctionDef) -> Iterator[tuple[str, ast.stmt | None]]:
    """Yield the function with one default value off: one change for each, since they are seldom asked for."""
    for index, default in enumerate(function.args.defaults):
        other: ast.expr
        match default:
            case ast.Constant(value=value) if type(value) in (int, float):
                assert isinstance(value, (int, float))
                other = ast.Constant(value + 1)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                other = ast.Constant(1 - value)
            case ast.Constant(value=bool(value)):
                other = ast.Constant(not value)
            case ast.Tuple(elts=[_, _, *_]):
                other = ast.Tuple(default.elts[:-1], default.ctx)
            case _:
                continue
        twin = copy.deepcopy(function)
        twin.args.defaults[index] = other
        yield "default", twin


def _changed(
    statement: ast.stmt, parameters: dict[str, ast.expr], *, inside: bool
) -> Iterator[tuple[str, ast.stmt | None]]:
    """Yield the ways to write this statement wrong; the statements within have their own turn."""
    if inside and isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign, ast.Return)):
        yield "statement dropped", None
    if isinstance(statement, ast.AugAssign) and type(statement.op) in _SWAPPED:
        twin = copy.deepcopy(statement)
        twin.op = _SWAPPED[type(statement.op)]()
        yield "operator", twin
    for path in _expressions(statement):
        for what, wrong in _wrong(_at(statement, path), parameters):
            twin_statement = copy.deepcopy(statement)
            _put(twin_statement, path, wrong)
            yield what, twin_statement


Path = tuple[tuple[str, int], ...]
"""How to reach an expression from its statement: fields, with the place in a list or -1."""


def _expressions(node: ast.AST, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all expressions of a statement: no annotations, no decorators, no statements within."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params", "ctx", "bases"):
            continue
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and field in ("targets", "target"):
            continue
        items = list(enumerate(value)) if isinstance(value, list) else [(-1, value)]
        for index, item in items:
            if not isinstance(item, ast.AST) or isinstance(item, (ast.stmt, ast.excepthandler, ast.match_case)):
                continue
            here = (*path, (field, index))
            if isinstance(item, ast.expr):
                yield here
            if not isinstance(item, ast.JoinedStr):
                yield from _expressions(item, here)


def _at(node: ast.AST, path: Path) -> ast.expr:
    for field, index in path:
        value = getattr(node, field)
        node = value[index] if index >= 0 else value
    assert isinstance(node, ast.expr)
    return node


def _put(node: ast.AST, path: Path, new: ast.expr) -> None:
    for field, index in path[:-1]:
        value = getattr(node, field)
        node = value[index] if index >= 0 else value
    field, index = path[-1]
    if index >= 0:
        getattr(node, field)[index] = new
    else:
        setattr(node, field, new)


def _wrong(node: ast.expr, parameters: dict[str, ast.expr]) -> Iterator[tuple[str, ast.expr]]:
    """Yield what could stand in place of one expression."""
    match node:
        case ast.BinOp():
            yield from _operators(node)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "minus dropped", operand
            if isinstance(operand, ast.Constant) and type(operand.value) is int:
                yield "number", ast.Constant(1 - operand.value)
                yield "number", ast.UnaryOp(op=ast.USub(), operand=ast.Constant(operand.value + 1))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not dropped", operand
        case ast.Compare(ops=[op, *_]) if type(op) in _COMPARED:
            yield "comparison", ast.Compare(node.left, [_COMPARED[type(op)](), *node.ops[1:]], node.comparators)
        case ast.BoolOp():
            yield "and, or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.Constant(value=value) if type(value) in (int, float):
            assert isinstance(value, (int, float))
            yield "number", ast.Constant(value + 1)
            yield "number", ast.UnaryOp(ast.USub(), ast.Constant(1)) if value == 0 else ast.Constant(value - 1)
        case ast.Constant(value=bool(value)):
            yield "true, false", ast.Constant(not value)
        case ast.Tuple(elts=[first, second, *others]):
            yield "first two swapped", ast.Tuple([second, first, *others], node.ctx)
        case ast.Attribute(value=value, attr="T"):
            yield "axes", value
        case ast.Name(id=name, ctx=ast.Load()) if name in parameters:
            yield "argument ignored", parameters[name]
        case ast.IfExp():
            yield "condition", ast.IfExp(node.test, node.orelse, node.body)
        case ast.Call():
            yield from _calls(node)
        case _:
            return


def _operators(node: ast.BinOp) -> Iterator[tuple[str, ast.expr]]:
    if type(node.op) in _SWAPPED:
        yield "operator", ast.BinOp(node.left, _SWAPPED[type(node.op)](), node.right)
        yield "right side dropped", node.left
    if isinstance(node.op, (ast.MatMult, ast.Sub, ast.Div)):
        yield "sides swapped", ast.BinOp(node.right, node.op, node.left)


def _calls(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if len(node.args) >= 2:
        yield "first two swapped", ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
    for index, keyword in enumerate(node.keywords):
        others = [*node.keywords[:index], *node.keywords[index + 1 :]]
        yield f"{keyword.arg or '**'} dropped", ast.Call(node.func, node.args, others)
    if name in _ROOTS and len(node.args) == 1:
        yield f"{name} dropped", node.args[0]
    if name in _OTHERS and isinstance(node.func, ast.Attribute):
        yield "function", ast.Call(ast.Attribute(node.func.value, _OTHERS[name], ast.Load()), node.args, node.keywords)
    if name in ("transpose", "swapaxes") and isinstance(node.func, ast.Attribute):
        yield "axes", node.func.value
        if len(node.args) >= 3:
            yield "axes", ast.Call(node.func, [*node.args[1:], node.args[0]], node.keywords)
