"""Uploads are kept in memory up to a cap, and never written to a temporary file by a learner's name."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload

__all__ = ["CappedUpload"]


class CappedUpload(FileUploadHandler):
    """Takes what fits. Of a larger file the first bytes are kept, one more than allowed: the page says why not."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin a file."""
        super().new_file(*args, **kwargs)
        self._content = BytesIO()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Keep a chunk."""
        room = settings.MAX_UPLOAD + 1 - self._content.tell()
        self._content.write(raw_data[:room])
        if start > 4 * settings.MAX_UPLOAD:
            raise StopUpload(connection_reset=True)

    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        """Return the file."""
        size = self._content.tell()
        self._content.seek(0)
        return InMemoryUploadedFile(
            file=self._content,
            field_name=self.field_name,
            name=self.file_name,
            content_type=self.content_type,
            size=size,
            charset=self.charset,
            content_type_extra=self.content_type_extra,
        )
