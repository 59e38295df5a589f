#include "program.h"

#include <chrono>
#include <thread>

#include "../base/refusal.h"
#include "../bytecode/bytecode.h"
#include "../ops/check.h"
#include "../text/parse.h"
#include "version.h"
#include "wire.h"

namespace pjref {
namespace {

int64_t ReadBuildOptions(WireReader reader, CompileOptions* options) {
  int64_t replicas = 1, partitions = 1;
  while (reader.Next()) {
    if (reader.field() == 4 || reader.field() == 5) {
      const int64_t count = reader.Integer();
      if (count < 1 || count > 1024)
        throw Refusal(Code::kInvalidArgument,
                      "the number of replicas and partitions must be positive");
      (reader.field() == 4 ? replicas : partitions) = count;
    } else if (reader.field() == 9) {
      WireReader assignment(reader.Bytes());
      while (assignment.Next()) {
        if (assignment.field() != 3) continue;
        WireReader computation(assignment.Bytes());
        while (computation.Next()) {
          if (computation.field() != 1) continue;
          // Packed, or one by one.
          options->device = computation.is_bytes() ? WireReader::FirstOf(computation.Bytes())
                                                   : computation.Integer();
        }
      }
    }
  }
  return replicas * partitions;
}

void ReadDonations(Program* program) {
  const size_t results = program->results.size();
  program->aliases.assign(results, -1);
  program->donated.assign(program->parameters.size(), false);
  const auto refuse = [&](size_t argument, const std::string& what) {
    throw Refusal(Code::kInvalidArgument,
                  At(program->main->place, "argument " + std::to_string(argument) + " " + what));
  };
  std::vector<size_t> donors;
  for (size_t i = 0; i < program->main->argument_attributes.size(); ++i) {
    const Attribute& attributes = program->main->argument_attributes[i];
    if (const Attribute* alias = attributes.Find("tf.aliasing_output")) {
      if (alias->kind != Attribute::Kind::kInteger || alias->integer < 0 ||
          alias->integer >= static_cast<int64_t>(results)) {
        refuse(i, "is aliased to a result that does not exist");
      }
      if (program->aliases[alias->integer] >= 0)
        refuse(i, "is aliased to a result that another one is aliased to");
      if (program->results[alias->integer].bytes() != program->parameters[i].bytes())
        refuse(i, "is aliased to a result of another size");
      program->aliases[alias->integer] = static_cast<int64_t>(i);
      program->donated[i] = true;
    } else if (const Attribute* donor = attributes.Find("jax.buffer_donor")) {
      if (donor->integer != 0 || donor->kind == Attribute::Kind::kUnit) donors.push_back(i);
    }
  }
  // A donor serves the first result of its size that has no memory yet.
  for (size_t donor : donors) {
    program->donated[donor] = true;
    for (size_t k = 0; k < results; ++k) {
      if (program->aliases[k] >= 0 || program->results[k] != program->parameters[donor]) continue;
      program->aliases[k] = static_cast<int64_t>(donor);
      break;
    }
  }
}

void ShowResults(const std::string& fault, Program* program) {
  std::vector<Type>& shown = program->shown;
  shown = program->results;
  if (fault == "count") {
    shown.push_back(shown.empty() ? Type{Element::kF32, {}} : shown.back());
  } else if (fault == "type" && !shown.empty()) {
    shown[0].element = shown[0].element == Element::kF32 ? Element::kU32 : Element::kF32;
  } else if (fault == "shape" && !shown.empty()) {
    shown[0].dims.insert(shown[0].dims.begin(), 2);
  }
  for (const Type& type : shown) {
    program->element_types.push_back(static_cast<int>(type.element));
    program->ranks.push_back(type.dims.size());
    program->dims.insert(program->dims.end(), type.dims.begin(), type.dims.end());
  }
}

}  // namespace

CompileOptions CompileOptions::Parse(std::string_view bytes) {
  CompileOptions options;
  options.bytes = bytes;
  if (bytes.empty())
    throw Refusal(Code::kInvalidArgument, "compile options are empty: num_replicas must be set");
  int64_t copies = 1;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == 3) {
      copies = ReadBuildOptions(WireReader(reader.Bytes()), &options);
    } else if (reader.field() == 4) {
      options.portable = reader.Integer() != 0;
    }
  }
  if (copies != 1)
    throw Refusal(Code::kUnimplemented,
                  "programs of several replicas or partitions are not supported");
  return options;
}

std::shared_ptr<const Program> Program::Compile(std::string_view code, std::string_view format,
                                                const CompileOptions& options,
                                                const Settings& settings) {
  if (format != "mlir")
    throw Refusal(Code::kInvalidArgument, "Unknown program format '" + std::string(format) + "'.");
  std::this_thread::sleep_for(std::chrono::milliseconds(settings.compile_ms));
  auto made = std::make_shared<Program>();
  made->code = code;
  made->fingerprint = Fingerprint(code);
  made->options = options;
  if (IsBytecode(code)) {
    made->module = ParseBytecode(code);
  } else {
    while (!code.empty() && code.back() == '\0') code.remove_suffix(1);
    made->module = ParseText(code);
  }
  Check(made->module.get());
  made->main = made->module->Find("main");
  if (!made->main)
    throw Refusal(Code::kUnknown, At({1, 1}, "conversion requires module with `main` function"));
  made->parameters = made->main->body.argument_types;
  made->results = made->main->result_types;
  for (const auto* types : {&made->parameters, &made->results}) {
    for (const Type& type : *types) {
      if (!IsNumber(type.element))
        throw Refusal(Code::kUnimplemented,
                      At(made->main->place, "'main' takes or returns a token"));
    }
  }
  ReadDonations(made.get());
  ShowResults(settings.wrong_results, made.get());
  return made;
}

std::string Program::Serialize() const {
  std::string body = std::string(kVersionText) + "\n" + std::to_string(options.device) + "\n" +
                     std::to_string(static_cast<int>(options.portable)) + "\n" + code;
  return std::string(kSerializedMagic) + pjref::Fingerprint(body) + "\n" + body;
}

std::shared_ptr<const Program> Program::Deserialize(std::string_view bytes,
                                                    const Settings& settings) {
  const auto refuse = [](const char* why) {
    throw Refusal(Code::kInvalidArgument,
                  std::string("the serialized executable cannot be read: ") + why);
  };
  if (bytes.substr(0, kSerializedMagic.size()) != kSerializedMagic)
    refuse("it is not one of this plug-in");
  bytes.remove_prefix(kSerializedMagic.size());
  const auto line = [&] {
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) refuse("it is cut off");
    const std::string text(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    return text;
  };
  const std::string sum = line();
  if (pjref::Fingerprint(bytes) != sum) refuse("its checksum is wrong");
  if (line() != kVersionText) refuse("another version of the plug-in wrote it");
  CompileOptions options;
  options.device = std::strtoll(line().c_str(), nullptr, 10);
  options.portable = line() == "1";
  Settings quick = settings;
  quick.compile_ms = 0;
  return Compile(bytes, "mlir", options, quick);
}

std::string Fingerprint(std::string_view bytes) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[hash >> shift & 15];
  return text;
}

}  // namespace pjref
