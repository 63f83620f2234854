// Numbers keys, with as few instructions per key as possible.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kohorte {

using Code = std::uint32_t;
using Key = std::uint64_t;
using Count = std::int64_t;

// Numbers keys in the order of their first appearance: in an array for small key spaces, by hashing otherwise.
class KeyTable {
 public:
  // Starts a new numbering; `space` is the number of possible keys.
  void reset(Key space, std::size_t rows) {
    direct_ = space <= std::clamp<Key>(kSlotsPerRow * static_cast<Key>(rows), kSmallSpace, kLargeSpace);
    if (direct_) {
      if (slots_.size() < space) slots_.resize(static_cast<std::size_t>(space), 0);
      if (stamp_ == std::numeric_limits<std::uint32_t>::max()) {
        std::fill(slots_.begin(), slots_.end(), 0);
        stamp_ = 0;
      }
      ++stamp_;
      return;
    }
    std::size_t capacity = kFirstCapacity;
    while (capacity < rows / 2) capacity *= 2;
    clear(capacity);
  }

  bool direct() const { return direct_; }

  // A view for the hot loop, which keeps everything it needs in registers.
  struct Direct {
    static constexpr bool kPrefetch = false;
    std::uint64_t* slots;
    std::uint64_t stamp;

    // Returns the number of the key, or `next` when it is new.
    Code find(Key key, Code next) {
      const std::uint64_t slot = slots[key];
      if ((slot >> 32) == (stamp >> 32)) return static_cast<Code>(slot);
      slots[key] = stamp | next;
      return next;
    }
  };
  Direct direct_view() { return {slots_.data(), static_cast<std::uint64_t>(stamp_) << 32}; }

  struct Hashed {
    static constexpr bool kPrefetch = true;
    KeyTable& table;

    void prefetch(Key key) const { __builtin_prefetch(table.entries_.data() + table.hash(key)); }

    Code find(Key key, Code next) {
      std::size_t place = table.hash(key);
      const Entry* entries = table.entries_.data();
      while (entries[place].number != kEmpty) {
        if (entries[place].key == key) return entries[place].number;
        place = (place + 1) & table.mask_;
      }
      table.entries_[place] = {key, next};
      if (++table.used_ * 2 > table.mask_) table.grow();
      return next;
    }
  };
  Hashed hashed_view() { return {*this}; }

 private:
  static constexpr Key kSlotsPerRow = 64;
  static constexpr Key kSmallSpace = 1 << 16;
  static constexpr Key kLargeSpace = 1 << 23;
  static constexpr std::size_t kFirstCapacity = 1 << 10;
  static constexpr Code kEmpty = std::numeric_limits<Code>::max();

  struct Entry {
    Key key;
    Code number;
  };

  std::size_t hash(Key key) const {
    key ^= key >> 32;
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> shift_);
  }

  void clear(std::size_t capacity) {
    entries_.assign(capacity, {0, kEmpty});
    mask_ = capacity - 1;
    shift_ = 64 - std::countr_zero(capacity);
    used_ = 0;
  }

  void grow() {
    std::vector<Entry> entries = std::move(entries_);
    clear((mask_ + 1) * 4);
    for (const Entry& entry : entries) {
      if (entry.number == kEmpty) continue;
      std::size_t place = hash(entry.key);
      while (entries_[place].number != kEmpty) place = (place + 1) & mask_;
      entries_[place] = entry;
      ++used_;
    }
  }

  bool direct_ = false;
  std::uint32_t stamp_ = 0;
  std::vector<std::uint64_t> slots_;
  std::vector<Entry> entries_;
  std::size_t mask_ = 0;
  std::size_t used_ = 0;
  int shift_ = 64;
};

}  // namespace kohorte
