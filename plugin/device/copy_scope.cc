#include "plugin/device/copy_scope.h"

namespace tenon {
namespace {

constexpr double kTimeoutSeconds = 60;

thread_local const CopyScope* innermost_copy_scope = nullptr;

void LoopAlone(int64_t n, absl::FunctionRef<void(int64_t i)> body) {
  for (int64_t i = 0; i < n; ++i) body(i);
}

}  // namespace

CopyScope::CopyScope(double timeout_s, int threads, CopyLoop loop)
    : loop_(loop), timeout_s_(timeout_s), threads_(threads), outer_(innermost_copy_scope) {
  innermost_copy_scope = this;
}

CopyScope::CopyScope(double timeout_s) : CopyScope(timeout_s, 1, LoopAlone) {}

CopyScope::~CopyScope() { innermost_copy_scope = outer_; }

double CopyScope::timeout_s() {
  return innermost_copy_scope == nullptr ? kTimeoutSeconds : innermost_copy_scope->timeout_s_;
}

int CopyScope::threads() {
  return innermost_copy_scope == nullptr ? 1 : innermost_copy_scope->threads_;
}

void CopyScope::Loop(int64_t n, absl::FunctionRef<void(int64_t i)> body) {
  if (innermost_copy_scope == nullptr) return LoopAlone(n, body);
  innermost_copy_scope->loop_(n, body);
}

}  // namespace tenon
