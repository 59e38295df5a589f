// The message VersionDef: producer is field 1, min_consumer 2, bad_consumers 3.

#include "graph/wire/versions.h"

#include "graph/wire/wire.h"

namespace tenon {
namespace {

// bad_consumers is field 3. Writers of proto3 pack its numbers, older ones write a field for each:
// both must be read.
void AppendPacked(std::string_view bytes, Versions* versions) {
  const char* p = bytes.data();
  const char* end = p + bytes.size();
  uint64_t v = 0;
  while (p < end && versions->ok) {
    versions->ok = WireReader::ReadVarint(&p, end, &v);
    if (versions->ok) versions->bad_consumers.push_back(static_cast<int>(v));
  }
}

}  // namespace

Versions ParseVersions(std::string_view wire) {
  Versions versions;
  WireReader reader(wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == 3 && f.type == WireType::kBytes) AppendPacked(f.bytes, &versions);
    if (f.type != WireType::kVarint) continue;
    if (f.number == 1) versions.producer = static_cast<int>(f.scalar);
    if (f.number == 2) versions.min_consumer = static_cast<int>(f.scalar);
    if (f.number == 3) versions.bad_consumers.push_back(static_cast<int>(f.scalar));
  }
  versions.ok &= reader.ok();
  return versions;
}

std::string VersionsToWire(const Versions& versions) {
  std::string wire, bad;
  WireWriter writer(&wire);
  if (versions.producer != 0) writer.Varint(1, static_cast<uint64_t>(versions.producer));
  if (versions.min_consumer != 0) writer.Varint(2, static_cast<uint64_t>(versions.min_consumer));
  WireWriter list(&bad);
  for (const int v : versions.bad_consumers) list.RawVarint(static_cast<uint64_t>(v));
  if (!bad.empty()) writer.Bytes(3, bad);
  return wire;
}

}  // namespace tenon
