"""Formulas of scenes, evaluated without the evaluator of Python: a scene may come from anybody."""

import ast
import operator
import re

import numpy as np


def _smoothstep(a):
    a = np.clip(a, 0, 1)
    return a * a * (3 - 2 * a)


CONSTANTS = {"pi": np.pi, "e": np.e}
FUNCTIONS = {
    "abs": np.abs, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sqrt": np.sqrt, "exp": np.exp,
    "ln": np.log, "log": np.log10, "min": np.minimum, "max": np.maximum, "sign": np.sign, "smoothstep": _smoothstep,
    "rotate_2D_x": lambda x, y, a: np.cos(a) * x - np.sin(a) * y, "rotate_2D_y": lambda x, y, a: np.sin(a) * x + np.cos(a) * y,
    "if_": lambda c, a, b: np.where(c >= 0, a, b),
}
OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Mod: np.fmod,
              ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos}
LONGEST = 10000  # characters


class NoFormula(Exception):
    """A text that is no formula, or uses what is not known here."""


def evaluate(text, variables):
    """The value of a formula, with `^` for powers and `if(c, a, b)`, of variables {name: number or array}. @raises NoFormula."""
    if len(text) > LONGEST:
        raise NoFormula("too long")
    try:
        tree = ast.parse(re.sub(r"\bif\(", "if_(", text.replace("^", "**")).strip(), mode="eval")
        with np.errstate(all="ignore"):
            return _value(tree.body, variables)
    except (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise NoFormula(str(error)) from None


def _value(node, variables):
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return np.float64(node.value)
    if isinstance(node, ast.Name) and (node.id in variables or node.id in CONSTANTS):
        return variables[node.id] if node.id in variables else CONSTANTS[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](_value(node.left, variables), _value(node.right, variables))
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](_value(node.operand, variables))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords:
        return FUNCTIONS[node.func.id](*(_value(one, variables) for one in node.args))
    raise NoFormula(f"{ast.dump(node)[:60]} is not known")
