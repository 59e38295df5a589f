#include "plugin/host/link/elf_library.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

constexpr uint16_t kMachine = EM_X86_64;
// Bounds for the memory that a hostile file makes the reader allocate; real libraries stay far
// below.
constexpr uint64_t kMaxTableBytes = uint64_t{1} << 30;
constexpr size_t kMaxHeaders = 4096;
constexpr size_t kMaxVersions = 0x8000;  // an index has 15 bits

absl::Status Damaged(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("damaged ELF file: ", what));
}

// The bytes of a file. Reads only the parts that are asked for: a plug-in may have gigabytes. Each
// read is checked against the size of the file.
class Bytes {
 public:
  Bytes(int fd, uint64_t size) : fd_(fd), size_(size) {}
  uint64_t size() const { return size_; }

  absl::Status Read(uint64_t offset, void* target, uint64_t size, std::string_view what) const {
    if (offset > size_ || size > size_ - offset)
      return Damaged(absl::StrCat(what, " lies beyond the end of the file"));
    char* to = static_cast<char*>(target);
    while (size > 0) {
      const ssize_t n = pread(fd_, to, size, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return Damaged(absl::StrCat(what, " cannot be read"));
      to += n;
      offset += static_cast<uint64_t>(n);
      size -= static_cast<uint64_t>(n);
    }
    return absl::OkStatus();
  }
  template <typename T>
  absl::StatusOr<T> At(uint64_t offset, std::string_view what) const {
    T value;
    TENON_RETURN_IF_ERROR(Read(offset, &value, sizeof(value), what));
    return value;
  }
  template <typename T>
  absl::StatusOr<std::vector<T>> Array(uint64_t offset, uint64_t count,
                                       std::string_view what) const {
    // Compared before the vector is made: the count comes from the file.
    if (count > std::min(size_, kMaxTableBytes) / sizeof(T))
      return Damaged(absl::StrCat(what, " is larger than the file"));
    std::vector<T> values(count);
    TENON_RETURN_IF_ERROR(Read(offset, values.data(), count * sizeof(T), what));
    return values;
  }

 private:
  int fd_;
  uint64_t size_;
};

// The entries of PT_DYNAMIC that the reader needs; 0 where the file has none. Addresses, but for
// strings_size, and for soname, rpath, runpath and needed, which are offsets of names.
struct Dynamic {
  uint64_t strings = 0, strings_size = 0;
  uint64_t symbols = 0;
  uint64_t hash = 0, gnu_hash = 0;
  uint64_t version_of = 0, versions_needed = 0, versions_defined = 0;
  uint64_t soname = 0, rpath = 0, runpath = 0;
  std::vector<uint64_t> needed;
};

// Reads by program headers and addresses, as the loader does, and not by sections: stripped
// libraries have none.
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  absl::StatusOr<ElfLibrary> Read() {
    TENON_RETURN_IF_ERROR(ReadHeader());
    TENON_RETURN_IF_ERROR(ReadDynamic());
    TENON_RETURN_IF_ERROR(ReadNames());
    TENON_RETURN_IF_ERROR(ReadVersions());
    TENON_RETURN_IF_ERROR(ReadSymbols());
    return std::move(library_);
  }

 private:
  absl::Status ReadHeader() {
    if (bytes_.size() < sizeof(Elf64_Ehdr)) return absl::InvalidArgumentError("not an ELF file");
    TENON_ASSIGN_OR_RETURN(const Elf64_Ehdr header, bytes_.At<Elf64_Ehdr>(0, "the header"));
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
      return absl::InvalidArgumentError("not an ELF file");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
      return absl::InvalidArgumentError("an ELF file, but not a 64-bit little-endian one");
    if (header.e_machine != kMachine) {
      return absl::InvalidArgumentError(absl::StrCat("an ELF file for machine ", header.e_machine,
                                                     ", not for x86-64 (", kMachine, ")"));
    }
    if (header.e_type != ET_DYN)
      return absl::InvalidArgumentError("an ELF file, but not a shared library");
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMaxHeaders)
      return Damaged("its program headers have an impossible size");
    TENON_ASSIGN_OR_RETURN(
        segments_, bytes_.Array<Elf64_Phdr>(header.e_phoff, header.e_phnum, "the program headers"));
    return absl::OkStatus();
  }

  // The offset in the file of an address of the loaded library. Damaged if no segment has the
  // address in the file.
  absl::StatusOr<uint64_t> OffsetOf(uint64_t address, std::string_view what) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
      const uint64_t within = address - segment.p_vaddr;
      if (within >= segment.p_filesz || segment.p_offset > UINT64_MAX - within) continue;
      return segment.p_offset + within;
    }
    return Damaged(absl::StrCat(what, " lies in no segment"));
  }

  absl::Status ReadDynamic() {
    const auto segment = std::find_if(segments_.begin(), segments_.end(),
                                      [](const Elf64_Phdr& s) { return s.p_type == PT_DYNAMIC; });
    if (segment == segments_.end())
      return absl::InvalidArgumentError("an ELF file without a dynamic section: no shared library");
    TENON_ASSIGN_OR_RETURN(
        const std::vector<Elf64_Dyn> entries,
        bytes_.Array<Elf64_Dyn>(segment->p_offset, segment->p_filesz / sizeof(Elf64_Dyn),
                                "the dynamic section"));
    const std::pair<Elf64_Sxword, uint64_t*> fields[] = {
        {DT_STRTAB, &dynamic_.strings},    {DT_STRSZ, &dynamic_.strings_size},
        {DT_SYMTAB, &dynamic_.symbols},    {DT_HASH, &dynamic_.hash},
        {DT_GNU_HASH, &dynamic_.gnu_hash}, {DT_VERSYM, &dynamic_.version_of},
        {DT_SONAME, &dynamic_.soname},     {DT_VERNEED, &dynamic_.versions_needed},
        {DT_RPATH, &dynamic_.rpath},       {DT_VERDEF, &dynamic_.versions_defined},
        {DT_RUNPATH, &dynamic_.runpath},
    };
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) dynamic_.needed.push_back(entry.d_un.d_val);
      for (const auto& [tag, value] : fields) {
        if (entry.d_tag == tag) *value = entry.d_un.d_val;
      }
    }
    return absl::OkStatus();
  }

  // A name of the string table. The table may lack the NUL at its end.
  absl::StatusOr<std::string> String(uint64_t at) const {
    if (at >= strings_.size()) return Damaged("a name lies beyond the string table");
    const size_t end = strings_.find('\0', at);
    if (end == std::string::npos) return Damaged("a name in the string table has no end");
    return strings_.substr(at, end - at);
  }

  absl::Status ReadNames() {
    TENON_ASSIGN_OR_RETURN(const uint64_t offset, OffsetOf(dynamic_.strings, "the string table"));
    if (dynamic_.strings_size > std::min(bytes_.size(), kMaxTableBytes))
      return Damaged("the string table is larger than the file");
    strings_.resize(dynamic_.strings_size);
    TENON_RETURN_IF_ERROR(
        bytes_.Read(offset, strings_.data(), strings_.size(), "the string table"));
    for (const uint64_t at : dynamic_.needed) {
      TENON_ASSIGN_OR_RETURN(library_.needed.emplace_back(), String(at));
    }
    if (dynamic_.soname != 0) {
      TENON_ASSIGN_OR_RETURN(library_.soname, String(dynamic_.soname));
    }
    // The loader ignores DT_RPATH where DT_RUNPATH is there.
    const uint64_t path = dynamic_.runpath != 0 ? dynamic_.runpath : dynamic_.rpath;
    if (path != 0) {
      TENON_ASSIGN_OR_RETURN(library_.run_path, String(path));
    }
    return absl::OkStatus();
  }

  struct Version {
    std::string name, library;
  };

  // Both tables are chains of records. Links only lead forward, and records are counted, so that no
  // file makes the reader loop.
  absl::Status ReadVersions() {
    versions_.resize(kMaxVersions);
    if (dynamic_.versions_needed != 0) TENON_RETURN_IF_ERROR(ReadNeededVersions());
    if (dynamic_.versions_defined != 0) TENON_RETURN_IF_ERROR(ReadDefinedVersions());
    return absl::OkStatus();
  }

  absl::Status ReadNeededVersions() {
    constexpr std::string_view kWhat = "the table of needed versions";
    TENON_ASSIGN_OR_RETURN(uint64_t at, OffsetOf(dynamic_.versions_needed, kWhat));
    for (size_t files = 0, count = 0; files < kMaxVersions; ++files) {
      TENON_ASSIGN_OR_RETURN(const auto file, bytes_.At<Elf64_Verneed>(at, kWhat));
      TENON_ASSIGN_OR_RETURN(const std::string library, String(file.vn_file));
      uint64_t next = at + file.vn_aux;
      for (size_t i = 0; i < file.vn_cnt && count < kMaxVersions; ++i, ++count) {
        TENON_ASSIGN_OR_RETURN(const auto version, bytes_.At<Elf64_Vernaux>(next, kWhat));
        const size_t index = version.vna_other & (kMaxVersions - 1);
        TENON_ASSIGN_OR_RETURN(versions_[index].name, String(version.vna_name));
        versions_[index].library = library;
        if (version.vna_next == 0) break;
        next += version.vna_next;
      }
      if (file.vn_next == 0) break;
      at += file.vn_next;
    }
    return absl::OkStatus();
  }

  absl::Status ReadDefinedVersions() {
    constexpr std::string_view kWhat = "the table of defined versions";
    TENON_ASSIGN_OR_RETURN(uint64_t at, OffsetOf(dynamic_.versions_defined, kWhat));
    for (size_t count = 0; count < kMaxVersions; ++count) {
      TENON_ASSIGN_OR_RETURN(const auto version, bytes_.At<Elf64_Verdef>(at, kWhat));
      TENON_ASSIGN_OR_RETURN(const auto name, bytes_.At<Elf64_Verdaux>(at + version.vd_aux, kWhat));
      // The record with VER_FLG_BASE names the file itself, which is no version.
      if ((version.vd_flags & VER_FLG_BASE) == 0) {
        TENON_ASSIGN_OR_RETURN(library_.versions.emplace_back(), String(name.vda_name));
      }
      if (version.vd_next == 0) break;
      at += version.vd_next;
    }
    std::sort(library_.versions.begin(), library_.versions.end());
    return absl::OkStatus();
  }

  // The dynamic section does not say how many symbols there are; a hash table over them does.
  absl::StatusOr<uint64_t> CountSymbols() const {
    if (dynamic_.hash != 0) {
      TENON_ASSIGN_OR_RETURN(const uint64_t offset, OffsetOf(dynamic_.hash, "the hash table"));
      TENON_ASSIGN_OR_RETURN(const uint32_t chains,
                             bytes_.At<uint32_t>(offset + sizeof(uint32_t), "the hash table"));
      return chains;
    }
    if (dynamic_.gnu_hash != 0) return CountInGnuHash();
    return Damaged("it has no hash table, so that nobody finds its symbols");
  }

  // A bucket of GNU's table has the index of its first symbol, and the chain of a bucket ends with
  // a hash that has its lowest bit set. So the end of the chain with the highest start is the last
  // symbol.
  absl::StatusOr<uint64_t> CountInGnuHash() const {
    constexpr std::string_view kWhat = "the hash table";
    struct Header {
      uint32_t buckets, first_symbol, bloom_words, bloom_shift;
    };
    TENON_ASSIGN_OR_RETURN(const uint64_t offset, OffsetOf(dynamic_.gnu_hash, kWhat));
    TENON_ASSIGN_OR_RETURN(const auto header, bytes_.At<Header>(offset, kWhat));
    const uint64_t buckets_at =
        offset + sizeof(Header) + uint64_t{header.bloom_words} * sizeof(uint64_t);
    TENON_ASSIGN_OR_RETURN(const std::vector<uint32_t> buckets,
                           bytes_.Array<uint32_t>(buckets_at, header.buckets, kWhat));
    uint64_t last = 0;
    for (const uint32_t bucket : buckets) last = std::max<uint64_t>(last, bucket);
    if (last < header.first_symbol) return header.first_symbol;
    const uint64_t chains_at = buckets_at + buckets.size() * sizeof(uint32_t);
    for (;; ++last) {  // ends with an error at the end of the file at the latest
      const uint64_t link = chains_at + (last - header.first_symbol) * sizeof(uint32_t);
      TENON_ASSIGN_OR_RETURN(const uint32_t hash, bytes_.At<uint32_t>(link, kWhat));
      if ((hash & 1) != 0) return last + 1;
    }
  }

  absl::Status ReadSymbols() {
    TENON_ASSIGN_OR_RETURN(const uint64_t count, CountSymbols());
    TENON_ASSIGN_OR_RETURN(const uint64_t offset, OffsetOf(dynamic_.symbols, "the symbol table"));
    TENON_ASSIGN_OR_RETURN(const std::vector<Elf64_Sym> symbols,
                           bytes_.Array<Elf64_Sym>(offset, count, "the symbol table"));
    std::vector<uint16_t> version_of;
    if (dynamic_.version_of != 0) {
      TENON_ASSIGN_OR_RETURN(const uint64_t at, OffsetOf(dynamic_.version_of, "symbol versions"));
      TENON_ASSIGN_OR_RETURN(version_of, bytes_.Array<uint16_t>(at, count, "symbol versions"));
    }
    for (size_t i = 1; i < symbols.size(); ++i) {  // the first entry is no symbol
      const Elf64_Sym& symbol = symbols[i];
      const unsigned binding = ELF64_ST_BIND(symbol.st_info);
      if (binding == STB_LOCAL) continue;
      TENON_ASSIGN_OR_RETURN(std::string name, String(symbol.st_name));
      if (binding == STB_GNU_UNIQUE) library_.unique_symbols = true;
      if (symbol.st_shndx != SHN_UNDEF) {
        library_.exported.push_back(std::move(name));
        continue;
      }
      const Version& version =
          versions_[version_of.empty() ? 0 : version_of[i] & (kMaxVersions - 1)];
      library_.undefined.push_back(
          {std::move(name), version.name, version.library, binding == STB_WEAK});
    }
    std::sort(library_.exported.begin(), library_.exported.end());
    return absl::OkStatus();
  }

  Bytes bytes_;
  std::vector<Elf64_Phdr> segments_;
  Dynamic dynamic_;
  std::string strings_;
  std::vector<Version> versions_;  // by the index that the table of symbol versions has
  ElfLibrary library_;
};

}  // namespace

absl::StatusOr<ElfLibrary> ReadElfLibrary(const std::string& path) {
  // O_NONBLOCK: to open a pipe would else wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::strerror(errno)));
  const absl::Cleanup close_it = [fd] { close(fd); };
  struct stat facts;
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a file"));
  absl::StatusOr<ElfLibrary> library =
      Reader(Bytes(fd, static_cast<uint64_t>(facts.st_size))).Read();
  if (library.ok()) return library;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", library.status().message()));
}

}  // namespace tenon
