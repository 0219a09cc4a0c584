# Two wheels of four that share two pieces.
A:=(4,3,2,1);
B:=(6,5,4,3);
Gen:=[A,B];
