#include "tests/e2e/saved_model_util.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {

namespace fs = std::filesystem;

std::string Folder(const std::string& name) { return Golden("saved_models/" + name + "/model"); }
std::string Cases(const std::string& name) {
  return Golden("saved_models/" + name + "/cases.json");
}

std::string CopyOf(const std::string& name, const std::string& as) {
  const std::string copy = TempPath(as);
  fs::remove_all(copy);
  fs::copy(Folder(name), copy, fs::copy_options::recursive);
  return copy;
}

std::string CopyWith(const std::string& name, const std::string& as, const std::string& bytes,
                     const std::string& instead) {
  const std::string copy = CopyOf(name, as), path = copy + "/saved_model.pb";
  std::string content = ReadFile(path);
  size_t replaced = 0;
  for (size_t at = content.find(bytes); at != content.npos;
       at = content.find(bytes, at), ++replaced)
    content.replace(at, bytes.size(), instead);
  EXPECT_GT(replaced, 0);
  std::ofstream(path, std::ios::binary) << content;
  return copy;
}

}  // namespace tenon::testing
