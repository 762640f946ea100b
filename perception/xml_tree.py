"""XML read without trust: a tree whose nodes know their line, and no document type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from perception.errors import BadInput

__all__ = ["MAX_DEPTH", "Node", "parse"]

MAX_DEPTH = 50
"""Deepest nesting that is read; an ELAN document has five levels."""


@dataclass(slots=True)
class Node:
    """An element.

    Args:
        name: without a namespace.
        attributes: by name.
        line: on which it begins.
        children: its elements.
        text: all characters directly in it.
    """

    name: str
    attributes: Mapping[str, str]
    line: int
    children: list[Node] = field(default_factory=list)
    text: str = ""

    def all(self, name: str) -> Iterator[Node]:
        """Its direct children of that name."""
        return (child for child in self.children if child.name == name)

    def attribute(self, name: str) -> str:
        """The value of an attribute.

        Raises:
            BadInput: it is missing; names the line.
        """
        value = self.attributes.get(name)
        if value is None:
            raise BadInput(f"line {self.line}: {self.name} lacks the attribute {name}")
        return value


def parse(content: bytes) -> Node:
    """The root of a document.

    Raises:
        BadInput: it is no XML, is nested too deeply, or brings a document type, by which it could
            define entities without an end; names the line.
    """
    parser = expat.ParserCreate()
    open_nodes: list[Node] = []
    roots: list[Node] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        if len(open_nodes) == MAX_DEPTH:
            raise BadInput(f"line {line}: it is nested more than {MAX_DEPTH} levels deep")
        node = Node(name.rpartition(":")[2], attributes, line)
        (open_nodes[-1].children if open_nodes else roots).append(node)
        open_nodes.append(node)

    def end(_: str) -> None:
        open_nodes.pop()

    def characters(text: str) -> None:
        open_nodes[-1].text += text

    def document_type(*_: object) -> None:
        raise BadInput(f"line {parser.CurrentLineNumber}: a document type is not read")

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = document_type
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise BadInput(f"line {error.lineno}: it is not XML ({reason})") from None
    except (LookupError, ValueError) as error:
        raise BadInput(f"line 1: it is not XML ({error})") from None
    return roots[0]
