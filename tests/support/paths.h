#pragma once

#include <string>
#include <string_view>

namespace tenon::testing {

// tests/golden/NAME. Tests run from the project's root.
std::string Golden(std::string_view name);

// A file of the build tree that the running test belongs to, such as "lib/plugins/libapu.so".
std::string Built(std::string_view name);

// A plug-in made for tests (tenon_plugin with TENON_TEST_PLUGINS): "x" is libx.so.
std::string TestPlugin(std::string_view name);

}  // namespace tenon::testing
