// The plug-in's own exception: what cannot be done, and why. The PJRT face turns it into a
// PJRT_Error.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace pjref {

// Abseil's numbers, which PJRT's are.
enum class Code : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
};

class Refusal : public std::exception {
 public:
  Refusal(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  Code code() const { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Code code_;
  std::string message_;
};

}  // namespace pjref
