#pragma once

#include <cstdint>
#include <string_view>

namespace fathom {

// Walks the fields of a serialized protocol buffer message. Every length is checked against what is
// left, groups are refused, nothing is recursive: a message inside is another reader's.
class ProtobufReader {
 public:
  enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  explicit ProtobufReader(std::string_view message) : rest_(message) {}

  // False at the end, or where the rest is malformed, which `damaged` tells.
  bool next();
  bool damaged() const { return damaged_; }

  uint32_t field() const { return field_; }
  Wire wire() const { return wire_; }
  uint64_t number() const { return number_; }         // of a varint, or the bits of a fixed value
  std::string_view bytes() const { return bytes_; }   // of a string or message
  double real() const;                                // of a fixed 64 or 32 bit value
  bool is(uint32_t field, Wire wire) const { return field_ == field && wire_ == wire; }
  bool is_bytes(uint32_t field) const { return is(field, Wire::kBytes); }
  bool is_number(uint32_t field) const { return is(field, Wire::kVarint); }

 private:
  bool varint(uint64_t& value);
  bool fixed(size_t size);

  std::string_view rest_, bytes_;
  uint64_t number_ = 0;
  uint32_t field_ = 0;
  Wire wire_ = Wire::kVarint;
  bool damaged_ = false;
};

}  // namespace fathom
