// What the host still holds of a plug-in: while there is a hold, its code must stay where it is.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// Holds a plug-in for its lifetime; an empty path holds nothing. Thread-safe.
class PluginHold {
 public:
  explicit PluginHold(std::string_view plugin);
  ~PluginHold();
  PluginHold(const PluginHold&) = delete;
  PluginHold& operator=(const PluginHold&) = delete;

  const std::string& plugin() const { return plugin_; }
  static bool Any(std::string_view plugin);

 private:
  std::string plugin_;
};

}  // namespace tenon
