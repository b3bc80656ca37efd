"""Receiving: adapters that are pushed to serve while asz watches, and put what arrives here."""

from asz.receiving.receivers import Receivers, receiving

__all__ = ["Receivers", "receiving"]
