#include "plugin/cpu/image/files/jpeg_errors.h"

#include <cstring>

namespace tenon::cpu {
namespace {

// Two of the texts tell libjpeg's version, which its public headers do not.
#define JVERSION ""
#define JCOPYRIGHT_SHORT ""
constexpr const char* kMessages[] = {
#define JMESSAGE(code, text) text,
#include <jerror.h>
};
constexpr int kMessageCount = sizeof(kMessages) / sizeof(kMessages[0]);

void CountWarning(j_common_ptr jpeg, int level) {
  if (level < 0) ++jpeg->err->num_warnings;
}
void DropMessage(j_common_ptr) {}
void FormatMessage(j_common_ptr, char*) {}

void Reset(j_common_ptr jpeg) {
  jpeg->err->num_warnings = 0;
  jpeg->err->msg_code = 0;
}

}  // namespace

void SetUpJpegErrors(jpeg_error_mgr* errors, void (*error_exit)(j_common_ptr)) {
  *errors = {};
  errors->error_exit = error_exit;
  errors->emit_message = &CountWarning;
  errors->output_message = &DropMessage;
  errors->format_message = &FormatMessage;
  errors->reset_error_mgr = &Reset;
}

void JpegMessage(const jpeg_error_mgr& errors, char (&text)[JMSG_LENGTH_MAX]) {
  const int code = errors.msg_code;
  const char* const message = code > 0 && code < kMessageCount ? kMessages[code] : "unknown error";
  const int* const i = errors.msg_parm.i;
// How many of them a text wants is known to its writer only.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-extra-args"
  if (strstr(message, "%s") != nullptr) {
    snprintf(text, sizeof(text), message, errors.msg_parm.s);
  } else {
    snprintf(text, sizeof(text), message, i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7]);
  }
#pragma GCC diagnostic pop
}

}  // namespace tenon::cpu
