// Tells on a terminal how far long work is.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "executor/cli/options/common_flags.h"

namespace tenon::cli {

// While it lives, a line on stderr is drawn anew five times a second, from the first second on, and
// then taken away. Nothing is drawn with --quiet, or if stderr is no terminal. Must not live while
// the process forks without exec.
class Ticker {
 public:
  // `text` gives the line for the seconds since the start. It is called on another thread, and must
  // neither print nor throw. What it refers to must outlive the ticker. Throws std::system_error if
  // the system has no thread left.
  Ticker(const OutputFlags& flags, std::function<std::string(double seconds)> text);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  void Draw(const std::function<std::string(double seconds)>& text);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::thread thread_;  // none if nothing is drawn
};

// "[##########                    ] 35 %". A share below 0 counts as 0, one above 1 as 1.
std::string BarText(double share);

}  // namespace tenon::cli
