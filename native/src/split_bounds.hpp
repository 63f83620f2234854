// What holds for all sets of a subtree: which splits and pairs of splits are excluded, and a lower bound of the cost.
//
// For a set F of the subtree that is feasible and costs no more than the best set so far:
//  1. A person's class under F lies within its class under the head and contains its box.
//  2. People in head classes below k are suppressed by F.
//  3. F suppresses at most as many people as the limit and, by the best cost, Bound::suppression_within allow.
//  4. Splits v and w are in conflict if head + v + w suppresses more than that. Since refining never suppresses fewer,
//     F does not contain both. This stays so further down the tree, and when a better set is found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "boxes.hpp"
#include "key_table.hpp"
#include "split_node.hpp"
#include "split_sets.hpp"

namespace kohorte {

// The figures of the head, and of the head with one more split of the tail.
struct Effects {
  SplitSets::Result head;
  std::vector<Count> suppressed;     // of head + split
  std::vector<Count> classes_split;  // by the split
  SplitFlags leaves_a_class;         // whether a part of a kept class has at least k people
};

// Which pairs of splits are in conflict, as one row of bits per split.
class Conflicts {
 public:
  void reset(std::size_t splits) {
    words_ = (splits + 63) / 64;
    bits_.assign(splits * words_, 0);
  }

  void add(std::size_t left, std::size_t right) {
    bits_[left * words_ + right / 64] |= std::uint64_t{1} << (right % 64);
    bits_[right * words_ + left / 64] |= std::uint64_t{1} << (left % 64);
  }

  bool between(std::size_t left, std::size_t right) const {
    return (bits_[left * words_ + right / 64] >> (right % 64) & 1) != 0;
  }

 private:
  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;
};

struct Bound {
  Count cost = 0;         // no feasible set of the subtree costs less
  Count dearest_box = 0;  // the largest share of one person in it, of those that are not suppressed by the head

  // The most people that a set of the subtree can suppress at a cost of at most `most`; the head suppresses `gone`.
  // Discernibility: with s people more the cost is at least the bound, in which each of them has a share of at most
  // `dearest_box`, plus s times what is missing to a share of `all`. By label: a box adds its people without the
  // majority to the bound; if it is suppressed, the majority is added, which is at least 1/labels of the box.
  Count suppression_within(const SplitSets& sets, Count most, Count gone) const {
    const Count left = std::max<Count>(most - cost, 0);
    if (sets.by_label()) {
      const Count labels = static_cast<Count>(sets.label_count());
      return left > (sets.limit() - gone) / labels ? sets.limit() : std::min(sets.limit(), gone + left * labels);
    }
    if (dearest_box >= sets.all()) return sets.limit();
    return std::min(sets.limit(), gone + left / (sets.all() - dearest_box));
  }
};

// Computes these facts; holds the scratch memory.
class NodeBounds {
 public:
  explicit NodeBounds(const SplitSets& sets) : sets_(sets) {}

  void effects(const SplitNode& node, Effects& effects) {
    effects.head = {};
    effects.suppressed.assign(sets_.splits(), 0);
    effects.classes_split.assign(sets_.splits(), 0);
    effects.leaves_a_class.assign(sets_.splits(), 0);
    find_ranges(node);
    const Boxes& boxes = node.boxes;
    for (std::size_t id = 0; id < node.classes(); ++id) {
      const std::size_t begin = node.starts[id], end = node.starts[id + 1];
      const Count people = tally(node, id);
      effects.head.cost += sets_.class_cost(people, labels_.data());
      effects.head.suppressed += sets_.suppressed(people);
      if (people < sets_.k()) continue;
      ++effects.head.kept_classes;
      for (std::size_t attribute = 0; attribute < sets_.attributes(); ++attribute) {
        const Range range = ranges_[attribute][boxes.slots[attribute][begin]];
        if (range.length() < 2) continue;
        table_.assign(range.length(), 0);
        for (std::size_t i = begin; i < end; ++i) table_[boxes.slots[attribute][i] - range.low] += boxes.people[i];
        Count left = 0;
        for (std::size_t place = 0; place + 1 < range.length(); ++place) {
          left += table_[place];
          const Count right = people - left;
          if (left == 0 || right == 0) continue;
          const std::size_t split = node.cuts[attribute][range.low + place];
          ++effects.classes_split[split];
          effects.suppressed[split] += sets_.suppressed(left) + sets_.suppressed(right);
          if (left >= sets_.k() || right >= sets_.k()) effects.leaves_a_class[split] = 1;
        }
      }
    }
    for (Count& suppressed : effects.suppressed) suppressed += effects.head.suppressed;
  }

  // Which pairs of the tail suppress more than `most` together; the head suppresses `gone`.
  void conflicts(const SplitNode& node, Count gone, Count most, Conflicts& conflicts) {
    const std::size_t splits = sets_.splits();
    pairs_.assign(splits * splits, 0);
    find_ranges(node);
    for (std::size_t id = 0; id < node.classes(); ++id) {
      const Count people = tally(node, id);
      if (people >= sets_.k()) add_pairs(node, id, people);
    }
    conflicts.reset(splits);
    for (std::size_t left = 0; left < splits; ++left) {
      for (std::size_t right = left + 1; right < splits; ++right) {
        if (pairs_[left * splits + right] > most - gone) conflicts.add(left, right);
      }
    }
  }

  // The published bound. By (1) a person's class has its whole box in it and, unless suppressed, k people; a person
  // suppressed has the largest share there can be, all people. By label a class has no fewer people without its
  // majority than its boxes have without theirs.
  Bound published_bound(const SplitNode& node) {
    Bound bound{0, sets_.by_label() ? 1 : sets_.k()};
    for (std::size_t id = 0; id < node.classes(); ++id) {
      const Count people = tally(node, id);
      if (people < sets_.k()) {
        bound.cost += sets_.class_cost(people, labels_.data());
        continue;
      }
      for (std::size_t i = node.starts[id]; i < node.starts[id + 1]; ++i) {
        bound.cost += published_share(node.boxes, i);
        if (!sets_.by_label()) bound.dearest_box = std::max(bound.dearest_box, node.boxes.people[i]);
      }
    }
    return bound;
  }

  // A better bound, from the neighbours of the boxes. The class of a box under F is the box alone if F has all cuts at
  // its sides. Otherwise it reaches over one of them, v, and contains at least the neighbouring box there: let ext(v)
  // be the people of both. So with discernibility
  //  - a person in a box below k, unless suppressed, has a share of at least the least ext(v) over all its open sides;
  //  - where sides v and w are in conflict (4), F lacks one of them: the share is at least min(ext(v), ext(w)).
  // `conflicts` may be those of a node above: they stay in conflict further down.
  // If `without` is given, it receives for every split v of the tail a bound for the sets without v: then the boxes on
  // both sides of v are in one class, a share is at least ext(v), or by label the boxes merge.
  Bound bound(const SplitNode& node, const Conflicts& conflicts, std::vector<Count>* without) {
    Bound bound = published_bound(node);
    if (without != nullptr) without->assign(sets_.splits(), 0);
    if (!sets_.by_label() || without != nullptr) {
      find_kept(node);
      if (sets_.by_label()) {
        merge_each(node, *without);
      } else {
        find_sides(node);
        for (std::size_t box = 0; box < node.boxes.size(); ++box) raise(node, conflicts, box, bound, without);
      }
    }
    if (without != nullptr) {
      for (Count& cost : *without) cost += bound.cost;
    }
    return bound;
  }

 private:
  static constexpr Code kNoSide = std::numeric_limits<Code>::max();

  struct Range {  // slots low..high-1 between two splits of the head
    std::size_t low;
    std::size_t high;
    std::size_t length() const { return high - low; }
  };

  struct Side {  // where a box has a neighbour over an open cut, and more than k people with it
    Code split;
    Code next;     // the next side of the same box, or kNoSide
    Count people;  // of both boxes
  };

  Count tally(const SplitNode& node, std::size_t id) {
    Count people = 0;
    labels_.assign(sets_.label_count(), 0);
    for (std::size_t i = node.starts[id]; i < node.starts[id + 1]; ++i) {
      people += node.boxes.people[i];
      for (std::size_t label = 0; label < labels_.size(); ++label) {
        labels_[label] += node.boxes.labels[i * labels_.size() + label];
      }
    }
    return people;
  }

  Count published_share(const Boxes& boxes, std::size_t box) const {
    const Count people = boxes.people[box];
    if (!sets_.by_label()) return people * std::max(people, sets_.k());
    const Count* labels = boxes.labels.data() + box * sets_.label_count();
    return people - *std::max_element(labels, labels + sets_.label_count());
  }

  void find_ranges(const SplitNode& node) {
    ranges_.resize(sets_.attributes());
    for (std::size_t attribute = 0; attribute < sets_.attributes(); ++attribute) {
      const auto& cuts = node.cuts[attribute];
      auto& ranges = ranges_[attribute];
      ranges.resize(cuts.size() + 1);
      std::size_t low = 0;
      for (std::size_t slot = 0; slot <= cuts.size(); ++slot) {
        ranges[slot].low = low;
        if (slot < cuts.size() && node.head[cuts[slot]] == 0) continue;
        for (; low <= slot; ++low) ranges[low].high = slot + 1;
      }
    }
  }

  // Adds what one class adds to the people suppressed by head + v + w, for all pairs of splits within it.
  void add_pairs(const SplitNode& node, std::size_t id, Count people) {
    const std::size_t splits = sets_.splits(), begin = node.starts[id], end = node.starts[id + 1];
    const auto small = [this](Count part) { return sets_.suppressed(part); };
    for (std::size_t first = 0; first < sets_.attributes(); ++first) {
      const auto& rows = node.boxes.slots[first];
      const Range range = ranges_[first][rows[begin]];
      if (range.length() < 2) continue;
      const Code* upper = node.cuts[first].data() + range.low;
      table_.assign(range.length(), 0);  // people up to each slot
      for (std::size_t i = begin; i < end; ++i) table_[rows[i] - range.low] += node.boxes.people[i];
      std::partial_sum(table_.begin(), table_.end(), table_.begin());
      for (std::size_t i = 0; i + 1 < range.length(); ++i) {
        for (std::size_t j = i + 1; j + 1 < range.length(); ++j) {
          pairs_[upper[i] * splits + upper[j]] +=
              small(table_[i]) + small(table_[j] - table_[i]) + small(people - table_[j]);
        }
      }
      for (std::size_t second = first + 1; second < sets_.attributes(); ++second) {
        const auto& columns = node.boxes.slots[second];
        const Range across = ranges_[second][columns[begin]];
        const std::size_t width = across.length(), height = range.length();
        if (width < 2) continue;
        table_.assign(height * width, 0);  // people up to each slot of both
        for (std::size_t i = begin; i < end; ++i) {
          table_[(rows[i] - range.low) * width + (columns[i] - across.low)] += node.boxes.people[i];
        }
        for (std::size_t i = 0; i < height; ++i) {
          Count* row = table_.data() + i * width;
          std::partial_sum(row, row + width, row);
          for (std::size_t j = 0; i > 0 && j < width; ++j) row[j] += row[j - width];
        }
        const Code* lower = node.cuts[second].data() + across.low;
        const Count* last = table_.data() + (height - 1) * width;
        for (std::size_t i = 0; i + 1 < height; ++i) {
          const Count* row = table_.data() + i * width;
          Count* pairs = pairs_.data() + upper[i] * splits;
          for (std::size_t j = 0; j + 1 < width; ++j) {
            const Count both = row[j], one = row[width - 1] - both, other = last[j] - both;
            pairs[lower[j]] += small(both) + small(one) + small(other) + small(people - both - one - other);
          }
        }
      }
    }
  }

  void find_kept(const SplitNode& node) {
    kept_.resize(node.classes());
    for (std::size_t id = 0; id < node.classes(); ++id) {
      Count people = 0;
      for (std::size_t i = node.starts[id]; i < node.starts[id + 1]; ++i) people += node.boxes.people[i];
      kept_[id] = people >= sets_.k() ? 1 : 0;
    }
  }

  // Finds the sides of boxes over which they have more than k people together with the neighbour. One of the two must
  // then have more than k/2: only the neighbours of such boxes, which are few, are looked at.
  void find_sides(const SplitNode& node) {
    neighbours_.reset(node.boxes);
    first_side_.assign(node.boxes.size(), kNoSide);
    sides_.clear();
    const auto large = [&](std::size_t box) { return node.boxes.people[box] > sets_.k() / 2; };
    const auto add = [&](std::size_t lower, std::size_t upper, Code split) {
      const Count people = node.boxes.people[lower] + node.boxes.people[upper];
      if (people <= sets_.k()) return;
      for (const std::size_t box : {lower, upper}) {
        sides_.push_back({split, first_side_[box], people});
        first_side_[box] = static_cast<Code>(sides_.size() - 1);
      }
    };
    for (std::size_t box = 0; box < node.boxes.size(); ++box) {
      if (!large(box) || kept_[node.class_of[box]] == 0) continue;
      for (std::size_t attribute = 0; attribute < sets_.attributes(); ++attribute) {
        const auto& cuts = node.cuts[attribute];
        const std::size_t slot = node.boxes.slots[attribute][box];
        if (slot < cuts.size() && node.head[cuts[slot]] == 0) {
          const std::size_t upper = neighbours_.above(box, attribute);
          if (upper != Neighbours::kNone) add(box, upper, cuts[slot]);
        }
        if (slot > 0 && node.head[cuts[slot - 1]] == 0) {
          const std::size_t lower = neighbours_.below(box, attribute);
          if (lower != Neighbours::kNone && !large(lower)) add(lower, box, cuts[slot - 1]);
        }
      }
    }
  }

  std::size_t open_sides(const SplitNode& node, std::size_t box) const {
    std::size_t open = 0;
    for (std::size_t attribute = 0; attribute < sets_.attributes(); ++attribute) {
      const auto& cuts = node.cuts[attribute];
      const std::size_t slot = node.boxes.slots[attribute][box];
      open += slot > 0 && node.head[cuts[slot - 1]] == 0 ? 1 : 0;
      open += slot < cuts.size() && node.head[cuts[slot]] == 0 ? 1 : 0;
    }
    return open;
  }

  // Discernibility: raises the share of the people of one box.
  void raise(const SplitNode& node, const Conflicts& conflicts, std::size_t box, Bound& bound,
             std::vector<Count>* without) {
    if (first_side_[box] == kNoSide || kept_[node.class_of[box]] == 0) return;
    const Count people = node.boxes.people[box], published = std::max(people, sets_.k());
    Count share = published, least = sets_.all();
    std::size_t found = 0;
    dear_sides_.clear();
    for (Code i = first_side_[box]; i != kNoSide; i = sides_[i].next) {
      ++found;
      least = std::min(least, sides_[i].people);
      if (sides_[i].people > share) dear_sides_.push_back(sides_[i]);
    }
    // only sides that lead to more than k people have been found: with any other, the share can stay at k
    if (people < sets_.k() && least > share && found == open_sides(node, box)) share = least;
    for (std::size_t i = 0; i < dear_sides_.size(); ++i) {
      for (std::size_t j = i + 1; j < dear_sides_.size(); ++j) {
        const Count both = std::min(dear_sides_[i].people, dear_sides_[j].people);
        if (both > share && conflicts.between(dear_sides_[i].split, dear_sides_[j].split)) share = both;
      }
    }
    bound.cost += people * (share - published);
    bound.dearest_box = std::max(bound.dearest_box, share);
    if (without == nullptr) return;
    for (const Side& side : dear_sides_) {
      if (side.people > share) (*without)[side.split] += people * (side.people - share);
    }
  }

  // By label: what is added when the boxes on both sides of a split merge.
  void merge_each(const SplitNode& node, std::vector<Count>& without) {
    const std::size_t count = sets_.label_count();
    neighbours_.reset(node.boxes);
    for (std::size_t lower = 0; lower < node.boxes.size(); ++lower) {
      if (kept_[node.class_of[lower]] == 0) continue;
      const Count* low = node.boxes.labels.data() + lower * count;
      for (std::size_t attribute = 0; attribute < sets_.attributes(); ++attribute) {
        const auto& cuts = node.cuts[attribute];
        const std::size_t slot = node.boxes.slots[attribute][lower];
        if (slot == cuts.size() || node.head[cuts[slot]] != 0) continue;
        const std::size_t upper = neighbours_.above(lower, attribute);
        if (upper == Neighbours::kNone) continue;
        const Count* high = node.boxes.labels.data() + upper * count;
        Count majority = 0;
        for (std::size_t label = 0; label < count; ++label) majority = std::max(majority, low[label] + high[label]);
        without[cuts[slot]] += *std::max_element(low, low + count) + *std::max_element(high, high + count) - majority;
      }
    }
  }

  const SplitSets& sets_;
  Neighbours neighbours_;
  std::vector<std::vector<Range>> ranges_;
  std::vector<Code> first_side_;
  std::vector<Side> sides_, dear_sides_;
  std::vector<Count> labels_, table_, pairs_;
  SplitFlags kept_;
};

}  // namespace kohorte
