"""OpenMMLab's mmaction2 and mmpose on today's Python: ``stack.load`` is the only door to them."""
