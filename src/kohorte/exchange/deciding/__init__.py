"""From a checked request to its answer: the folder of requests, decisions by two people, answers and refusals."""
