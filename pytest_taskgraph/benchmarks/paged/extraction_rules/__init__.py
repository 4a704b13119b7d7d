"""The rules that build a procedural graph: of a document's sentences, or of the elements that a model lists."""
