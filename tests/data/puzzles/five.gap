# Five numbers in a row: turn all to the left, or swap the first two.
L:=(5,4,3,2,1);
X:=(1,2);
Gen:=[L,X];
