# A group without names, as in the manual of GAP, and what GAP computes from it.
LoadPackage("atlas");
A:=(1,2,3);
n:=5;
moves:=[A, (3,4)*(3,4)*(3,4), (A*(3,4))^-1];
G:=Group(moves);
Size(G);
CS:=CompositionSeries(G);
