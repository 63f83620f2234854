"""Request and response bodies as the OpenAPI description shows them."""
