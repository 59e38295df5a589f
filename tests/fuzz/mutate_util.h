// Deterministic damage to graphs: the same seed makes the same file on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "proto/graph_def.pb.h"

namespace tenon::testing {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // One to three wrong things in a graph: fields dropped, shapes huge or negative, ports out of
  // range, cycles, names twice, other types, ops, devices.
  void Damage(pb::GraphDef* graph);
  // One to three wrong things in a file's bytes: flipped, cut off, dropped, doubled, swapped.
  void Damage(std::string* bytes);

  uint64_t Below(uint64_t n) { return n == 0 ? 0 : random_() % n; }

 private:
  void DamageOnce(pb::GraphDef* graph);
  void DamageOnce(std::string* bytes);
  void DamageInput(pb::GraphDef* graph);
  void DamageNode(pb::GraphDef* graph);
  void DamageField(google::protobuf::Message* message);
  void DamageValue(google::protobuf::Message* message,
                   const google::protobuf::FieldDescriptor* field);
  int64_t Extreme();

  std::mt19937_64 random_;
};

// A legal way to nest messages without end: functions in attributes of functions.
std::string DeepBinary(int depth);
std::string DeepText(int depth);

// Other nests: shapes of no use, unknown groups, lists of tensors of variants.
std::string DeepVariant(int depth);
std::string DeepGroup(int depth);

// TENON_FUZZ_ITERATIONS, or `fallback`.
int FuzzIterations(int fallback);

}  // namespace tenon::testing
