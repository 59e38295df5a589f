#include "executor/cli/options/ticker.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "graph/c_api/callback_scope.h"

namespace tenon::cli {

Ticker::Ticker(const OutputFlags& flags, std::function<std::string(double seconds)> text) {
  if (flags.quiet || isatty(STDERR_FILENO) != 1) return;
  thread_ = std::thread([this, text = std::move(text)] { Draw(text); });
}

Ticker::~Ticker() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Ticker::Draw(const std::function<std::string(double seconds)>& text) {
  // A fault in this thread is no plug-in's.
  MarkHostThread();
  const auto start = std::chrono::steady_clock::now();
  bool drawn = false;
  std::unique_lock lock(mutex_);
  auto next = std::chrono::milliseconds(1000);
  while (!ended_.wait_for(lock, next, [this] { return ends_; })) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    fprintf(stderr, "\r%s\033[K", text(passed.count()).c_str());
    drawn = true;
    next = std::chrono::milliseconds(200);
  }
  if (drawn) fprintf(stderr, "\r\033[K");
}

std::string BarText(double share) {
  constexpr int kWidth = 30;
  const double within = std::clamp(share, 0.0, 1.0);
  const auto filled = static_cast<size_t>(kWidth * within);
  return absl::StrFormat("[%s%s] %.0f %%", std::string(filled, '#'),
                         std::string(kWidth - filled, ' '), 100 * within);
}

}  // namespace tenon::cli
