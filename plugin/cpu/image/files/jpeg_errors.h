// What libjpeg says when something is wrong. Its own error manager is not used: the one of Debian's
// static library can only be linked into programs.
#pragma once

#include <cstdio>

#include <jpeglib.h>  // after <cstdio>, which it does not include

namespace tenon::cpu {

// Fills `errors` in: warnings are counted and dropped; errors call `error_exit`, which must not
// return and may call JpegMessage.
void SetUpJpegErrors(jpeg_error_mgr* errors, void (*error_exit)(j_common_ptr));

// The last error in words.
void JpegMessage(const jpeg_error_mgr& errors, char (&text)[JMSG_LENGTH_MAX]);

}  // namespace tenon::cpu
