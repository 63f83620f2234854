"""Protocol C: classes whose sizes are encrypted counters; one member knows the classes, another one the sizes."""
