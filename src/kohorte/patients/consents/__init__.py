"""Graded consent of the people of a list: given, withdrawn, checked at every export."""
