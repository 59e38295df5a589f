// Writes log lines of plug-ins to standard error as they come, with level and plug-in. Standard
// output is for the command's own results.
#include "tensorflow/c/logging.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "graph/c_api/callback_scope.h"

namespace tenon {
namespace {

constexpr const char* kLevelNames[] = {"info", "warning", "error", "fatal"};

// The value of TF_CPP_MAX_VLOG_LEVEL or TF_CPP_MIN_LOG_LEVEL, TensorFlow's variables for this; 0 if
// it is not set.
int EnvLevel(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? 0 : std::atoi(value);  // NOLINT: text that is no number is 0
}

void Print(const char* level, const char* fmt, va_list args) {
  if (fmt == nullptr) return;
  char text[2048];  // longer lines are cut off
  std::vsnprintf(text, sizeof(text), fmt, args);
  const CallbackInfo* callback = CurrentCallback();
  const bool known = callback != nullptr && *callback->plugin != '\0';
  std::fprintf(stderr, "%s: %s%s%s\n", level, known ? callback->plugin : "", known ? ": " : "",
               text);
}

}  // namespace
}  // namespace tenon

extern "C" {

// TF_FATAL ends TensorFlow's process; here the line is written and the process goes on.
void TF_Log(TF_LogLevel level, const char* fmt, ...) {
  if (level < TF_INFO || level > TF_FATAL) return;
  static const int min_level = tenon::EnvLevel("TF_CPP_MIN_LOG_LEVEL");
  if (static_cast<int>(level) < min_level) return;
  va_list args;
  va_start(args, fmt);
  tenon::Print(tenon::kLevelNames[level], fmt, args);
  va_end(args);
}

void TF_VLog(int level, const char* fmt, ...) {
  static const int max_level = tenon::EnvLevel("TF_CPP_MAX_VLOG_LEVEL");
  if (level > max_level) return;
  va_list args;
  va_start(args, fmt);
  tenon::Print("vlog", fmt, args);
  va_end(args);
}

void TF_DVLog(int level, const char* fmt, ...) {
#ifdef NDEBUG
  (void)level;
  (void)fmt;
#else
  static const int max_level = tenon::EnvLevel("TF_CPP_MAX_VLOG_LEVEL");
  if (level > max_level) return;
  va_list args;
  va_start(args, fmt);
  tenon::Print("vlog", fmt, args);
  va_end(args);
#endif
}

}  // extern "C"
