"""What CPython's own parser says of every .py file below the given folders, one fact a line.

    scan_python_oracle.py FOLDER...

FILE path | SKIP path why | F first name last owner parameters decorators | C first name last owner bases
X owner first last callee | J owner name (a call in an f-string, whose place Python < 3.12 does not know)
Fields are separated by tabs; texts have no white space and no comments, and are cut to CUT bytes.
"""

import ast
import io
import pathlib
import sys
import tokenize

CUT = 60
FSTRING_PLACES = sys.version_info >= (3, 12)


def squeezed(text):
    """The text without white space, line continuations and comments."""
    if "#" in text:
        try:
            tokens = tokenize.generate_tokens(io.StringIO("(" + text + "\n)").readline)
            kept = (t.string for t in tokens if t.type != tokenize.COMMENT)
            text = "".join(kept).strip()[1:-1]
        except (tokenize.TokenError, SyntaxError):
            pass
    text = "".join(text.replace("\\\n", "").replace("\\\r\n", "").split())
    while text.startswith("(") and closes(text) == len(text) - 1:
        text = text[1:-1]
    return text.encode()


def closes(text):
    """Where the bracket that the text begins with is closed, strings not told apart."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i
    return -1


class Facts(ast.NodeVisitor):
    def __init__(self, source, out):
        self.lines = source.splitlines(keepends=True)
        self.out = out
        self.scope = []
        self.owner = ""
        self.in_fstring = 0

    def text(self, node):
        first, last = node.lineno - 1, node.end_lineno - 1
        if first == last:
            return self.lines[first].encode()[node.col_offset : node.end_col_offset].decode()
        parts = [self.lines[first].encode()[node.col_offset :].decode()]
        parts += self.lines[first + 1 : last]
        parts.append(self.lines[last].encode()[: node.end_col_offset].decode())
        return "".join(parts)

    def row(self, *fields):
        self.out.write(b"\t".join(f if isinstance(f, bytes) else str(f).encode() for f in fields) + b"\n")

    def parameters(self, a):
        positional = a.posonlyargs + a.args
        defaults = [None] * (len(positional) - len(a.defaults)) + a.defaults
        rows = list(zip(positional, defaults))
        names = []
        for i, (p, d) in enumerate(rows):
            names.append((p.arg, d))
            if i + 1 == len(a.posonlyargs):
                names.append(("/", None))
        if a.vararg:
            names.append(("*" + a.vararg.arg, None))
        elif a.kwonlyargs:
            names.append(("*", None))
        names += [(p.arg, d) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
        if a.kwarg:
            names.append(("**" + a.kwarg.arg, None))
        return b",".join(n.encode() + (b"=" + squeezed(self.text(d))[:CUT] if d else b"") for n, d in names)

    def definition(self, kind, node, rest):
        decorators = node.decorator_list
        first = decorators[0].lineno if decorators else node.lineno
        texts = b"@".join(squeezed(self.text(d))[:CUT] for d in decorators)
        self.row(kind, first, node.name, node.end_lineno, ".".join(self.scope), rest, texts)
        for child in decorators:
            self.visit(child)

    def inside(self, node, owner):
        before = self.owner
        self.scope.append(node.name)
        self.owner = owner
        for child in node.body:
            self.visit(child)
        self.owner = before
        self.scope.pop()

    def visit_FunctionDef(self, node):
        self.definition("F", node, self.parameters(node.args))
        self.visit(node.args)
        if node.returns:
            self.visit(node.returns)
        self.inside(node, ".".join(self.scope + [node.name]))

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        bases = b",".join(squeezed(self.text(b))[:CUT] for b in node.bases)
        self.definition("C", node, bases)
        for child in node.bases + node.keywords:
            self.visit(child)
        self.inside(node, self.owner)

    def visit_JoinedStr(self, node):
        self.in_fstring += 1
        self.generic_visit(node)
        self.in_fstring -= 1

    def visit_Call(self, node):
        if self.in_fstring and not FSTRING_PLACES:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            self.row("J", self.owner, name)
        else:
            self.row("X", self.owner, node.lineno, node.end_lineno, squeezed(self.text(node.func))[-CUT:])
        self.generic_visit(node)


def main():
    out = sys.stdout.buffer
    sys.setrecursionlimit(20000)
    files = [f for folder in sys.argv[1:] for f in pathlib.Path(folder).rglob("*.py") if f.is_file()]
    for path in sorted(files):
        try:
            # Python reads \r\n and \r as line breaks too; str.splitlines would take more for them.
            source = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError) as error:
            out.write(f"SKIP\t{path}\t{type(error).__name__}: {error}\n".encode())
            continue
        out.write(f"FILE\t{path}\n".encode())
        facts = Facts("", out)
        facts.lines = [line + "\n" for line in source.split("\n")]
        facts.visit(tree)


main()
