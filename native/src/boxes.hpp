// Boxes of rows in a grid: each attribute is an axis that is cut into slots; rows in the same slots are one box.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "key_table.hpp"

namespace kohorte {

// Rows, or boxes of rows: their slot along every attribute, the number of people, and their labels.
struct Boxes {
  std::vector<std::vector<Code>> slots;  // per attribute
  std::vector<Count> people;
  std::vector<Count> labels;  // boxes x labels; empty if the cost does not use labels

  std::size_t size() const { return people.size(); }
};

// The slots of an attribute after removing some cuts: `slots[i]` is the new slot of slot i.
struct Merging {
  std::vector<Code> slots;
  Code count = 1;

  // The cut between slots i and i + 1 remains if `kept(i)`.
  template <typename Kept>
  void reset(std::size_t size, Kept kept) {
    slots.assign(size, 0);
    for (std::size_t i = 1; i < size; ++i) slots[i] = slots[i - 1] + (kept(i - 1) ? 1 : 0);
    count = slots.back() + 1;
  }
};

// Numbers boxes by their merged slots, in the order of their first appearance.
class BoxNumbers {
 public:
  void number(const Boxes& boxes, std::span<const Merging> mergings) {
    keys_.assign(boxes.size(), 0);
    Key space = 1;
    for (std::size_t attribute = 0; attribute < mergings.size(); ++attribute) {
      const Key count = mergings[attribute].count;
      if (count == 1) continue;
      if (space > kLargestSpace / count) {  // too many combinations for one number; only those that occur are numbered
        rank(space);
        std::copy(ids_.begin(), ids_.end(), keys_.begin());
        space = count_;
      }
      const Code* merged = mergings[attribute].slots.data();
      const Code* slots = boxes.slots[attribute].data();
      for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] = keys_[i] * count + merged[slots[i]];
      space *= count;
    }
    rank(space);
  }

  std::span<const Code> ids() const { return ids_; }
  std::size_t count() const { return count_; }

 private:
  static constexpr Key kLargestSpace = Key{1} << 62;

  void rank(Key space) {
    ids_.resize(keys_.size());
    table_.reset(space, keys_.size());
    if (table_.direct()) {
      rank_with(table_.direct_view());
    } else {
      rank_with(table_.hashed_view());
    }
  }

  template <typename View>
  void rank_with(View view) {
    Code next = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      ids_[i] = view.find(keys_[i], next);
      next += ids_[i] == next ? 1 : 0;
    }
    count_ = next;
  }

  KeyTable table_;
  std::vector<Key> keys_;
  std::vector<Code> ids_;
  std::size_t count_ = 0;
};

// Finds the neighbours of boxes along an attribute: one slot apart in it, equal in all others.
class Neighbours {
 public:
  // No two boxes have the same slots.
  void reset(const Boxes& boxes) {
    boxes_ = &boxes;
    keys_.assign(boxes.size(), 0);
    for (std::size_t attribute = 0; attribute < boxes.slots.size(); ++attribute) {
      const Key step = step_along(attribute);
      const Code* slots = boxes.slots[attribute].data();
      for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i] += slots[i] * step;
    }
    const std::size_t capacity = std::max(kLeastCapacity, std::bit_ceil(2 * boxes.size()));
    mask_ = capacity - 1;
    shift_ = 64 - std::countr_zero(capacity);
    places_.assign(capacity, kEmpty);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::size_t place = keys_[i] >> shift_;
      while (places_[place] != kEmpty) place = (place + 1) & mask_;
      places_[place] = keys_[i] << 32 | i;
    }
  }

  // The box one slot above or below, or kNone.
  std::size_t above(std::size_t box, std::size_t along) const {
    const auto is_above = [&](std::size_t other) { return next_to(box, other, along); };
    return find(keys_[box] + step_along(along), is_above);
  }
  std::size_t below(std::size_t box, std::size_t along) const {
    const auto is_below = [&](std::size_t other) { return next_to(other, box, along); };
    return find(keys_[box] - step_along(along), is_below);
  }

  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

 private:
  static constexpr std::uint64_t kEmpty = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t kLeastCapacity = 16;

  template <typename Wanted>
  std::size_t find(Key key, Wanted wanted) const {
    for (std::size_t place = key >> shift_; places_[place] != kEmpty; place = (place + 1) & mask_) {
      if (places_[place] >> 32 != (key & 0xFFFFFFFF)) continue;
      const std::size_t box = places_[place] & 0xFFFFFFFF;
      if (keys_[box] == key && wanted(box)) return box;
    }
    return kNone;
  }

  // Keys are sums of slots times these, modulo 2^64: a step along an attribute is an addition. Different slots can
  // have the same key, so boxes with the wanted key are compared in full.
  static Key step_along(std::size_t attribute) {
    Key step = (attribute + 1) * 0x9E3779B97F4A7C15ULL;
    step = (step ^ (step >> 30)) * 0xBF58476D1CE4E5B9ULL;
    step = (step ^ (step >> 27)) * 0x94D049BB133111EBULL;
    return (step ^ (step >> 31)) | 1;
  }

  bool next_to(std::size_t lower, std::size_t upper, std::size_t along) const {
    for (std::size_t attribute = 0; attribute < boxes_->slots.size(); ++attribute) {
      const std::vector<Code>& slots = boxes_->slots[attribute];
      if (slots[lower] + (attribute == along ? 1 : 0) != slots[upper]) return false;
    }
    return true;
  }

  const Boxes* boxes_ = nullptr;
  std::vector<Key> keys_;
  std::vector<std::uint64_t> places_;  // half a key and a box
  std::size_t mask_ = 0;
  int shift_ = 64;
};

}  // namespace kohorte
