// TF_ApiDefMap: descriptions of ops for generators of bindings.
#include <google/protobuf/text_format.h>
#include <climits>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/base/arguments.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/without_memory.h"
#include "proto/api_def.pb.h"
#include "proto/op_def.pb.h"
#include "tensorflow/c/c_api.h"

struct TF_ApiDefMap {
  using Pool = tenon::Handles<TF_ApiDefMap>;
  absl::Mutex mutex;
  absl::flat_hash_map<std::string, tenon::pb::ApiDef> ops ABSL_GUARDED_BY(mutex);
  // The first TF_ApiDefMapGet writes new names into the texts; nothing may be merged afterwards.
  bool is_read ABSL_GUARDED_BY(mutex) = false;
};

namespace tenon::api {
namespace {

pb::ApiDef ApiOf(const pb::OpDef& op) {
  pb::ApiDef api;
  api.set_graph_op_name(op.name());
  api.set_visibility(pb::ApiDef::VISIBLE);
  api.add_endpoint()->set_name(op.name());
  const auto set_arg = [](const pb::OpDef::ArgDef& from, pb::ApiDef::Arg* to) {
    to->set_name(from.name());
    to->set_rename_to(from.name());
    to->set_description(from.description());
  };
  for (const pb::OpDef::ArgDef& arg : op.input_arg()) {
    set_arg(arg, api.add_in_arg());
    api.add_arg_order(arg.name());
  }
  for (const pb::OpDef::ArgDef& arg : op.output_arg()) set_arg(arg, api.add_out_arg());
  for (const pb::OpDef::AttrDef& attr : op.attr()) {
    pb::ApiDef::Attr* to = api.add_attr();
    to->set_name(attr.name());
    to->set_rename_to(attr.name());
    if (attr.has_default_value()) *to->mutable_default_value() = attr.default_value();
    to->set_description(attr.description());
  }
  api.set_summary(op.summary());
  api.set_description(op.description());
  return api;
}

// Takes the first line, without its end, off `text`.
std::string_view TakeLine(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == text->npos ? text->size() : end + 1);
  return line;
}

// Writes texts of several lines, "field: <<END", as quoted strings. Files of ApiDefs have such
// texts for long descriptions, and protobuf's text format does not know them.
std::string PlainText(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = TakeLine(&text);
    const size_t colon = line.find(':');
    std::string_view end = colon == line.npos ? "" : line.substr(colon + 1);
    end = absl::StripLeadingAsciiWhitespace(end);
    if (!absl::ConsumePrefix(&end, "<<") || end.empty()) {
      absl::StrAppend(&out, line, "\n");
      continue;
    }
    std::vector<std::string_view> lines;
    std::string_view rest;
    while (!text.empty()) {
      rest = TakeLine(&text);
      if (absl::ConsumePrefix(&rest, end)) break;
      lines.push_back(rest);
      rest = {};
    }
    absl::StrAppend(&out, line.substr(0, colon + 1), " \"",
                    absl::CEscape(absl::StrJoin(lines, "\n")), "\"", rest, "\n");
  }
  return out;
}

template <typename Elements>
auto* FindNamed(Elements& elements, const std::string& name) {
  const auto found = std::find_if(elements.begin(), elements.end(),
                                  [&](const auto& e) { return e.name() == name; });
  return found == elements.end() ? nullptr : &*found;
}

template <typename... Parts>
absl::Status Misfit(const Parts&... parts) {
  return absl::FailedPreconditionError(absl::StrCat(parts...));
}

void ReplaceIfSet(const std::string& from, std::string* to) {
  if (!from.empty()) *to = from;
}

template <typename Args>
absl::Status MergeArgs(const Args& from, const std::string& op, Args* to) {
  for (const pb::ApiDef::Arg& arg : from) {
    pb::ApiDef::Arg* const base = FindNamed(*to, arg.name());
    if (base == nullptr)
      return Misfit("Argument ", arg.name(), " not defined in base api for ", op);
    ReplaceIfSet(arg.rename_to(), base->mutable_rename_to());
    ReplaceIfSet(arg.description(), base->mutable_description());
  }
  return absl::OkStatus();
}

absl::Status MergeArgOrder(const pb::ApiDef& from, pb::ApiDef* to) {
  if (from.arg_order_size() == 0) return absl::OkStatus();
  const std::string& op = to->graph_op_name();
  if (from.arg_order_size() != to->arg_order_size()) {
    return Misfit("Invalid number of arguments ", from.arg_order_size(), " for ", op,
                  ". Expected: ", to->arg_order_size());
  }
  if (!std::is_permutation(from.arg_order().begin(), from.arg_order().end(),
                           to->arg_order().begin())) {
    return Misfit("Invalid arg_order: ", absl::StrJoin(from.arg_order(), ", "), " for ", op,
                  ". All elements in arg_order override must match base arg_order: ",
                  absl::StrJoin(to->arg_order(), ", "));
  }
  *to->mutable_arg_order() = from.arg_order();
  return absl::OkStatus();
}

absl::Status MergeAttrs(const pb::ApiDef& from, pb::ApiDef* to) {
  for (const pb::ApiDef::Attr& attr : from.attr()) {
    pb::ApiDef::Attr* const base = FindNamed(*to->mutable_attr(), attr.name());
    if (base == nullptr) {
      return Misfit("Attribute ", attr.name(), " not defined in base api for ",
                    to->graph_op_name());
    }
    ReplaceIfSet(attr.rename_to(), base->mutable_rename_to());
    ReplaceIfSet(attr.description(), base->mutable_description());
    if (attr.has_default_value()) *base->mutable_default_value() = attr.default_value();
  }
  return absl::OkStatus();
}

void MergeTexts(const pb::ApiDef& from, pb::ApiDef* to) {
  ReplaceIfSet(from.deprecation_message(), to->mutable_deprecation_message());
  if (from.deprecation_version() != 0) to->set_deprecation_version(from.deprecation_version());
  ReplaceIfSet(from.summary(), to->mutable_summary());
  std::string text = from.description().empty() ? to->description() : from.description();
  if (!from.description_prefix().empty())
    text = absl::StrCat(from.description_prefix(), "\n", text);
  if (!from.description_suffix().empty())
    text = absl::StrCat(text, "\n", from.description_suffix());
  to->set_description(text);
}

absl::Status Merge(const pb::ApiDef& from, pb::ApiDef* to) {
  if (from.visibility() != pb::ApiDef::DEFAULT_VISIBILITY) to->set_visibility(from.visibility());
  if (from.endpoint_size() > 0) *to->mutable_endpoint() = from.endpoint();
  const std::string& op = to->graph_op_name();
  TENON_RETURN_IF_ERROR(MergeArgs(from.in_arg(), op, to->mutable_in_arg()));
  TENON_RETURN_IF_ERROR(MergeArgs(from.out_arg(), op, to->mutable_out_arg()));
  TENON_RETURN_IF_ERROR(MergeArgOrder(from, to));
  TENON_RETURN_IF_ERROR(MergeAttrs(from, to));
  MergeTexts(from, to);
  return absl::OkStatus();
}

absl::Status Put(TF_ApiDefMap& map, std::string_view text) {
  pb::ApiDefs defs;
  absl::MutexLock lock(&map.mutex);
  if (map.is_read)
    return Misfit("TF_ApiDefMapPut cannot be called after TF_ApiDefMapGet has been called.");
  if (!google::protobuf::TextFormat::ParseFromString(PlainText(text), &defs))
    return absl::InvalidArgumentError("Failed to parse the text as an ApiDefs message");
  for (const pb::ApiDef& def : defs.op()) {
    const auto found = map.ops.find(def.graph_op_name());
    if (found != map.ops.end()) TENON_RETURN_IF_ERROR(Merge(def, &found->second));
  }
  return absl::OkStatus();
}

void RenameInTexts(const std::string& from, const std::string& to, pb::ApiDef* api) {
  if (from == to) return;
  const auto rename = [old_text = absl::StrCat("`", from, "`"),
                       new_text = absl::StrCat("`", to, "`")](std::string* text) {
    absl::StrReplaceAll({{old_text, new_text}}, text);
  };
  for (pb::ApiDef::Arg& arg : *api->mutable_in_arg()) rename(arg.mutable_description());
  for (pb::ApiDef::Arg& arg : *api->mutable_out_arg()) rename(arg.mutable_description());
  for (pb::ApiDef::Attr& attr : *api->mutable_attr()) rename(attr.mutable_description());
  rename(api->mutable_summary());
  rename(api->mutable_description());
}

// Texts name the op, arguments and attributes as the OpDef does; they are to use the new names.
void UseNewNames(pb::ApiDef* api) {
  const pb::ApiDef names = *api;
  if (names.endpoint_size() > 0)
    RenameInTexts(names.graph_op_name(), names.endpoint(0).name(), api);
  for (const pb::ApiDef::Arg& arg : names.in_arg()) RenameInTexts(arg.name(), arg.rename_to(), api);
  for (const pb::ApiDef::Arg& arg : names.out_arg())
    RenameInTexts(arg.name(), arg.rename_to(), api);
  for (const pb::ApiDef::Attr& attr : names.attr())
    RenameInTexts(attr.name(), attr.rename_to(), api);
}

TF_Buffer* Get(TF_ApiDefMap& map, const std::string& name) {
  absl::MutexLock lock(&map.mutex);
  if (!map.is_read) {
    for (auto& [op, api] : map.ops) UseNewNames(&api);
  }
  map.is_read = true;
  const auto found = map.ops.find(name);
  return found == map.ops.end() ? nullptr : NewBuffer(found->second.SerializeAsString());
}

}  // namespace
}  // namespace tenon::api

using tenon::api::AllGiven;
using tenon::api::IsBytes;

extern "C" {

TF_ApiDefMap* TF_NewApiDefMap(TF_Buffer* op_list_buffer, TF_Status* status) try {
  if (!AllGiven({{"op_list_buffer", op_list_buffer}}, status)) return nullptr;
  tenon::pb::OpList ops;
  if (op_list_buffer->length > INT_MAX ||
      !ops.ParseFromArray(op_list_buffer->data, static_cast<int>(op_list_buffer->length))) {
    tenon::StatusToC(absl::InvalidArgumentError("Unparseable OpList"), status);
    return nullptr;
  }
  TF_ApiDefMap* const map = TF_ApiDefMap::Pool::New();
  {
    absl::MutexLock lock(&map->mutex);
    for (const tenon::pb::OpDef& op : ops.op()) map->ops[op.name()] = tenon::api::ApiOf(op);
  }
  return map;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_DeleteApiDefMap(TF_ApiDefMap* apimap) { tenon::DeleteHandle(apimap); }

void TF_ApiDefMapPut(TF_ApiDefMap* api_def_map, const char* text, size_t text_len,
                     TF_Status* status) try {
  if (!AllGiven({{"api_def_map", api_def_map}}, status) || !IsBytes("text", text, text_len, status))
    return;
  tenon::StatusToC(tenon::api::Put(*api_def_map, {text, text_len}), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_Buffer* TF_ApiDefMapGet(TF_ApiDefMap* api_def_map, const char* name, size_t name_len,
                           TF_Status* status) try {
  if (!AllGiven({{"api_def_map", api_def_map}}, status) || !IsBytes("name", name, name_len, status))
    return nullptr;
  return tenon::api::Get(*api_def_map, std::string(name, name_len));
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
