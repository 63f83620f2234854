"""The evaluation of Kohlmayer (2015), chapter 3, repeated with this engine, as pages of the documentation."""
