#include "executor/op_headers/op_texts.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon::op_headers {
namespace {

absl::Status ReadFile(const std::filesystem::path& path, OpTexts& texts) {
  std::ifstream file(path);
  OpText* text = nullptr;  // of the op whose lines are read
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(' ') == line.npos) {
      text = nullptr;
      continue;
    }
    if (line[0] == '#') continue;
    if (line[0] != ' ') {
      text = &texts[line];
      continue;
    }
    const std::string_view content = std::string_view(line).substr(line.find_first_not_of(' '));
    const size_t colon = content.find(": ");
    if (text != nullptr && text->sentence.empty()) {
      text->sentence = content;
    } else if (text != nullptr && colon != std::string_view::npos) {
      text->lines.emplace_back(content.substr(0, colon), content.substr(colon + 2));
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat(path.string(), ": not of the form \"name: text\": ", line));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view OpText::Find(std::string_view name) const {
  for (const auto& [key, value] : lines) {
    if (key == name) return value;
  }
  return {};
}

absl::StatusOr<OpTexts> ReadOpTexts(const std::string& folder) {
  OpTexts texts;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".txt") TENON_RETURN_IF_ERROR(ReadFile(entry.path(), texts));
  }
  if (texts.empty()) return absl::NotFoundError(absl::StrCat("No texts of ops in ", folder));
  return texts;
}

}  // namespace tenon::op_headers
