#!/usr/bin/env python3
"""Lists the GPU kernels of a checkout without Fathom: regular expressions for C++, ast for Python.

    list_kernels.py CHECKOUT    one line a kernel: kind, name, file, line of the name, last line

It knows what is written out: definitions with __global__ and functions with the decorator of a kernel DSL. A
function of triton.jit is a kernel where its name is launched somewhere as name[grid](...), else a helper. Kernels
that macros make are not found: the tables name them by hand.
"""
import ast
import os
import re
import sys

CPP = ('.cu', '.cuh', '.h', '.hpp', '.cpp', '.cc', '.hip', '.inl', '.mu', '.cxx', '.hxx')
NOT_CODE = re.compile(
    r'R"([^ ()\\\t\n]{0,16})\((?:.|\n)*?\)\1"'
    r'|//(?:[^\n\\]|\\(?:.|\n))*'
    r'|/\*(?:.|\n)*?\*/'
    r'|"(?:[^"\\\n]|\\(?:.|\n))*"'
    r"|(?<![0-9a-zA-Z_])'(?:[^'\\\n]|\\.)+'")
DIRECTIVE = re.compile(r'^[ \t]*#[ \t]*(\w*)(?:[^\n\\]|\\(?:.|\n))*', re.MULTILINE)


def spaces(text):
    return re.sub(r'[^\n]', ' ', text)


def without_directives(text, first_branch):
    """Directives become spaces, with `first_branch` also what is not in the first branch of an #if."""
    out, at, depth, hidden = [], 0, [], False
    for found in DIRECTIVE.finditer(text):
        code = text[at:found.start()]
        out.append(spaces(code) if hidden else code)
        out.append(spaces(found.group(0)))
        at = found.end()
        word = found.group(1)
        if word.startswith('if'):
            depth.append(True)
        elif word.startswith('el') and depth:
            depth[-1] = False
        elif word == 'endif' and depth:
            depth.pop()
        hidden = first_branch and not all(depth)
    out.append(spaces(text[at:]) if hidden else text[at:])
    return ''.join(out)


def closing(text, at, pair):
    depth = 0
    for found in re.compile('[' + re.escape(pair) + ']').finditer(text, at):
        depth += 1 if found.group(0) == pair[0] else -1
        if depth == 0:
            return found.start()
    return -1


def definitions(text):
    """(place of __global__, place of the name, name, place of the last bracket)."""
    for found in re.finditer(r'\b__global__\b', text):
        at, name, where = found.end(), None, None
        while 0 <= at < len(text):
            if text[at] == '(':
                before = re.sub(r'<[^()]*>$', '', text[found.end():at].rstrip()).rstrip()
                word = re.search(r'\w+$', before)
                if word and not re.fullmatch(r'__\w+__|decltype|alignas', word.group(0)):
                    name, where = word.group(0), found.end() + word.start()
                at = closing(text, at, '()')
                if at < 0:
                    break
            elif text[at] in ';}':
                break
            elif text[at] == '{':
                yield found.start(), where or found.start(), name, closing(text, at, '{}')
                break
            at += 1


def cpp_kernels(text):
    text = NOT_CODE.sub(lambda found: spaces(found.group(0)), text)
    every, first = without_directives(text, False), without_directives(text, True)
    ends = {begin: end for begin, _, _, end in definitions(first)}
    starts = [found.start() for found in re.finditer(r'\b__global__\b', every)] + [len(every)]
    for begin, where, name, end in definitions(every):
        following = min(start for start in starts if start > begin)
        if end < 0 or end > following:  # an #if splits a bracket
            end = ends.get(begin, end)
        yield 'cuda', name, text.count('\n', 0, where) + 1, text.count('\n', 0, end) + 1


DECORATORS = {
    'triton.jit': 'triton', 'gluon.jit': 'gluon', 'cute.kernel': 'cute', 'wp.kernel': 'warp', 'warp.kernel': 'warp',
    'cuda.jit': 'numba', 'T.prim_func': 'tilelang', 'ct.kernel': 'cutile', 'helion.kernel': 'helion',
}


def dotted(node):
    node = node.func if isinstance(node, ast.Call) else node
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return '.'.join(reversed(parts))


def python_kernels(text, launched):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            kernel = node.func.value
            wrapped = kernel.args if isinstance(kernel, ast.Call) else [kernel]  # wrap_triton(kernel)[grid](...)
            launched.update(dotted(name).split('.')[-1] for name in wrapped)
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if dotted(decorator) in DECORATORS:
                    yield DECORATORS[dotted(decorator)], node.name, node.lineno, node.end_lineno


def list_kernels(root):
    rows, launched = [], set()
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != '.git']
        for name in files:
            path = os.path.join(folder, name)
            if os.path.islink(path) or not name.endswith(CPP + ('.py',)):
                continue
            with open(path, encoding='utf-8', errors='replace') as file:
                text = file.read()
            if name.endswith('.py'):
                found = list(python_kernels(text, launched))
            else:
                found = list(cpp_kernels(text)) if '__global__' in text else []
            rows += [(kind, kernel, os.path.relpath(path, root), first, last) for kind, kernel, first, last in found]
    return sorted((row for row in rows if row[0] != 'triton' or row[1] in launched), key=lambda row: row[2:])


if __name__ == '__main__':
    for row in list_kernels(sys.argv[1]):
        print(*row, sep='\t')
