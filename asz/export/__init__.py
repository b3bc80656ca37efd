"""Export: what was collected, pushed to a receiver that speaks OTLP.

grpcio, httpx and protobuf are imported by the modules that use them; import those only to push.
"""
