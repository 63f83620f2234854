"""Charts as SVG, drawn without a library and without a script: bars, lines, rows, points, and a sheet of text."""
