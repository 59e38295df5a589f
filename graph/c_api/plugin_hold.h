// Counts what the host still holds of each plug-in. While the count is above 0, the code of the
// plug-in must stay loaded.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// Holds the plug-in of this path for the lifetime of the object; an empty path holds nothing. Paths
// are compared as text: `plugin` is the path that CallbackInfo and Device have, no other name of
// the file. A hold does not itself keep the library open: UnloadPlugin asks Any, and refuses while
// there is a hold. Thread-safe.
class PluginHold {
 public:
  explicit PluginHold(std::string_view plugin);
  ~PluginHold();
  PluginHold(const PluginHold&) = delete;
  PluginHold& operator=(const PluginHold&) = delete;

  const std::string& plugin() const { return plugin_; }
  // Whether any hold on the plug-in exists.
  static bool Any(std::string_view plugin);

 private:
  std::string plugin_;
};

}  // namespace tenon
