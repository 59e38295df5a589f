// The error manager for libjpeg. libjpeg's own error manager is not used: in Debian's static
// library, it can be linked into programs only.
#pragma once

#include <cstdio>

#include <jpeglib.h>  // after <cstdio>, which it does not include

namespace tenon::cpu {

// Fills `errors` in, for the field `err` of a libjpeg object. `errors` must outlive that object.
// Warnings are counted and dropped. Errors call `error_exit`, which must not return and may call
// JpegMessage.
void SetUpJpegErrors(jpeg_error_mgr* errors, void (*error_exit)(j_common_ptr));

// Writes the last error's message to `text`; "unknown error" if libjpeg has no text for it.
void JpegMessage(const jpeg_error_mgr& errors, char (&text)[JMSG_LENGTH_MAX]);

}  // namespace tenon::cpu
