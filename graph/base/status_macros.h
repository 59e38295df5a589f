// Early return on a failed absl::Status, the error channel inside Tenon. Lack of memory may come as
// an exception besides (within_memory.h).
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the status of `expr` from the calling function, unless it is OK.
#define TENON_RETURN_IF_ERROR(expr)                \
  do {                                             \
    absl::Status tenon_status_ = (expr);           \
    if (!tenon_status_.ok()) return tenon_status_; \
  } while (false)

#define TENON_CONCAT_INNER_(a, b) a##b
#define TENON_CONCAT_(a, b) TENON_CONCAT_INNER_(a, b)

// TENON_ASSIGN_OR_RETURN(auto x, F()) evaluates F() once, which returns a StatusOr. Moves its value
// to x, or returns its error from the calling function. Expands to several statements and declares
// a variable: not for the body of an `if` without braces, and once a line.
#define TENON_ASSIGN_OR_RETURN(lhs, expr) \
  TENON_ASSIGN_OR_RETURN_IMPL_(TENON_CONCAT_(tenon_or_, __LINE__), lhs, expr)
#define TENON_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = (expr);                                 \
  if (!tmp.ok()) return std::move(tmp).status();     \
  lhs = *std::move(tmp)
